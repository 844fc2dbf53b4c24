"""Measure the speed of the versions of the book's engine, into docs/compiled/speed.txt.

Each version counts the move paths (perft) of the start position: the small engine in plain Python, the same generator
compiled by Numba, and this engine's core. Two versions also search. The seconds are CPU seconds, the best of several
rounds. The versions take turns, so that other work on the machine matters little.
"""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

from knightadder.engine.bench import run_bench
from knightadder.engine.loader import load_engine
from knightadder.engine.options import Options

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "docs" / "compiled" / "speed.txt"
sys.path.insert(0, str(ROOT / "docs"))

LEAVES = {3: 8_902, 5: 4_865_609, 6: 119_060_324}


def versions(quick: bool = False) -> dict[str, tuple[Callable[[], int], Callable[[], int] | None]]:
    """Return for each version two functions, which count move paths and search; each returns its number of nodes.
    With `quick`, the functions count fewer plies and search less deeply.
    """
    from compiled import perft as compiled
    from measure_small_engine import measure
    from small_engine import board
    from small_engine.search import TECHNIQUES

    engine = load_engine(Options(), lambda step: None)

    def core(bulk: bool) -> int:
        engine.set_position()
        return sum(engine.perft(3 if quick else 6, bulk).values())

    def search() -> int:
        engine.set_option("EvalType", "pesto")
        return run_bench(engine, 3 if quick else 11, lambda line: None)[0]

    def search_small() -> int:
        nodes = measure(TECHNIQUES, 1 if quick else 4)["nodes"]
        assert isinstance(nodes, int)
        return nodes

    return {
        "small engine, plain Python": (lambda: board.perft(board.from_fen(board.START), 3), search_small),
        "its generator, compiled by Numba": (
            lambda: compiled.perft(compiled.from_fen(board.START), 3 if quick else 5),
            None,
        ),
        "this engine's core": (lambda: core(False), search),
        "this engine's core, last ply counted by sets": (lambda: core(True), None),
    }


def speed(run: Callable[[], int]) -> float:
    """Return the nodes per CPU second."""
    began = time.process_time()
    nodes = run()
    return nodes / (time.process_time() - began)


def table(speeds: dict[str, tuple[float, float | None]]) -> str:
    """Return the table as Markdown: each version, its speeds, and its perft speed relative to the first version."""
    first = next(iter(speeds.values()))[0]
    lines = ["| Version | Move paths a second | Times as fast | Nodes of a search a second |", "|---|--:|--:|--:|"]
    for name, (paths, nodes) in speeds.items():
        lines.append(f"| {name} | {rounded(paths)} | {rounded(paths / first)} | {rounded(nodes) if nodes else '-'} |")
    return "\n".join([*lines, ""])


def rounded(number: float) -> str:
    """Return a number as text with two significant digits."""
    digits = len(f"{number:.0f}") - 2
    return f"{round(number, -digits):,.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3, help="measurements of each version (default: %(default)s)")
    parser.add_argument("--out", type=Path, default=TABLE, help="output file (default: docs/compiled/speed.txt)")
    arguments = parser.parse_args()
    found = versions()
    for count, _ in versions(quick=True).values():  # compiles
        if count() != LEAVES[3]:
            raise SystemExit("a version counts wrongly")
    best: dict[str, tuple[float, float | None]] = dict.fromkeys(found, (0.0, None))
    for _ in range(arguments.rounds):
        for name, (count, search) in found.items():
            paths, nodes = best[name]
            best[name] = max(paths, speed(count)), max(nodes or 0.0, speed(search)) if search else None
            print(name, *best[name], flush=True)
    arguments.out.write_text(table(best), encoding="utf-8")


if __name__ == "__main__":
    main()
