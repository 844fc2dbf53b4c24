"""Small loops of the core, timed, in one table: move generation, evaluation, short searches, and perft.

For comparison, the table has the figures that the Rust engine Ferrite publishes in its README (criterion's means), and
some measured with Ferrite on a machine like this project's CI. Ferrite's evaluation is PeSTO's. Rustic's figures are
from its book (https://rustic-chess.org/search/ordering/mvv_lva.html), for version Alpha 1; no published perft speed of
Rustic was found. Our figures are the CPU times of compiled loops, the best of several rounds. A search's time includes
all iterations with their reports, but not the engine's threads. ``make bench-table`` writes the tables of the
documents.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from perft_epd import KIWIPETE, START

from knightadder.core.api import microbench
from knightadder.engine.bench import BENCH_POSITIONS
from knightadder.engine.engine import Engine
from knightadder.engine.evaluator import Evaluator
from knightadder.engine.game import Game
from knightadder.engine.info import Info, Result
from knightadder.engine.limits import Limits
from knightadder.engine.search_thread import Root, SearchThread

DOCS = Path(__file__).parents[1] / "docs"

# The positions of Ferrite's evaluation benchmark, with the nanoseconds from Ferrite's README and measured nanoseconds.
FERRITE_EVALUATION = (
    ("start position", START, 100, 111),
    ("Italian Game", "r1bqkb1r/pppp1ppp/2n2n2/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R w KQkq - 4 4", 105, None),
    ("rook endgame", "8/5k2/8/8/8/8/4K3/4R3 w - - 0 1", 98, None),
    ("Sicilian Dragon", "r1bq1rk1/pp2ppbp/2np2p1/2n5/P3PP2/N1P2N2/1PB3PP/R1B1QRK1 b - - 0 10", 110, None),
)
COUNT = 500_000  # evaluations or generations to time
EVALUATIONS = (("PeSTO", "pesto"), ("classical", "classical"), ("network", "nnue"))


@dataclass(frozen=True, slots=True)
class Measure:
    """One figure of ours, with Ferrite's (published, and measured on a machine like CI's) and Rustic's (published).
    `best` chooses from the figures of all rounds: `min` for times, `max` for speeds.
    """

    name: str
    unit: str
    run: Callable[[Engine], float]  # returns our figure, in `unit`; takes an engine
    published: float | None = None
    measured: float | None = None  # the lower end of a range
    rustic: float | None = None
    best: Callable[[Iterable[float]], float] = min


@cache
def tables_of(evaluation: str) -> np.record:
    """Return the core's tables for an evaluation, by its name."""
    return Evaluator(evaluation).tables


def nanoseconds(loop: Callable[[Any, Any, int], object], fen: str, count: int, evaluation: str = "pesto") -> float:
    """Return the CPU time per iteration of a compiled loop ``loop(tables, worker, count)`` at a position."""
    tables = tables_of(evaluation)
    game = Game(tables)
    game.set_up(fen)
    loop(tables, game.record, 1)
    start = time.process_time_ns()
    loop(tables, game.record, count)
    return (time.process_time_ns() - start) / count


def evaluation(fens: Iterable[str], chosen: str) -> Callable[[Engine], float]:
    """Return a function that measures the nanoseconds of one static evaluation, as the mean over positions."""
    fens = tuple(fens)
    each = COUNT // len(fens)
    return lambda _: sum(nanoseconds(microbench.time_evaluate, fen, each, chosen) for fen in fens) / len(fens)


def generation(fen: str) -> Callable[[Engine], float]:
    """Return a function that measures the nanoseconds of generating all legal moves of a position."""
    return lambda _: nanoseconds(microbench.time_generate, fen, COUNT)


def forget(engine: Engine) -> None:
    """Clear the tables of searches; `Engine.new_game` does not notice that `search` has used the hash table."""
    engine.new_game()
    engine._table.clear()


def search(fen: str, depth: int) -> Callable[[Engine], float]:
    """Return a function that measures the milliseconds of a search to a depth, from an empty hash table."""

    def run(engine: Engine) -> float:
        forget(engine)
        engine.set_position(fen)
        root = Root(engine._tables, engine._game, engine._game.legal_moves(), engine._table, np.zeros(1, np.uint64))
        alone = SearchThread(root, engine._workers[0])
        alone.prepare()
        start = time.process_time()
        alone.deepen(1, depth)
        return (time.process_time() - start) * 1e3

    return run


def perft(fen: str, depth: int) -> Callable[[Engine], float]:
    """Return a function that measures how many millions of leaves perft counts per second."""

    def run(engine: Engine) -> float:
        engine.set_position(fen)
        start = time.process_time()
        leaves = sum(engine.perft(depth).values())
        return leaves / (time.process_time() - start) / 1e6

    return run


def nodes(fen: str, depth: int) -> Callable[[Engine], float]:
    """Return a function that counts the nodes of a search to a depth."""

    def run(engine: Engine) -> float:
        results: list[Result] = []
        forget(engine)
        engine.set_position(fen)
        engine.go(Limits(depth=depth), lambda info: None, results.append)
        engine.wait()
        info = results[0].info
        assert isinstance(info, Info)
        return info.nodes

    return run


EVALUATION = (
    *(
        Measure(f"{title}, {name}", "ns", evaluation([fen], chosen), *(theirs if chosen == "pesto" else ()))
        for title, chosen in EVALUATIONS
        for name, fen, *theirs in FERRITE_EVALUATION
    ),
    *(
        Measure(f"{title}, mean of the positions of `bench`", "ns", evaluation(BENCH_POSITIONS, chosen))
        for title, chosen in EVALUATIONS
    ),
)
OTHERS = (
    Measure("move generation, start position", "ns", generation(START), 360, 642),
    Measure("move generation, Kiwipete", "ns", generation(KIWIPETE), 777, 1386),
    Measure("search to depth 3, start position", "ms", search(START, 3), 1.39, 0.35),
    Measure("search to depth 4, start position", "ms", search(START, 4), 2.66, 2.7),
    Measure("search to depth 3, Kiwipete", "ms", search(KIWIPETE, 3), 11.31, 16.5, 2),
    Measure("search to depth 4, Kiwipete", "ms", search(KIWIPETE, 4), rustic=6),
    Measure("search to depth 9, Kiwipete", "nodes", nodes(KIWIPETE, 9), rustic=39_339_223),
    Measure("perft 6, start position", "million leaves/s", perft(START, 6), best=max),
    Measure("perft 5, Kiwipete", "million leaves/s", perft(KIWIPETE, 5), best=max),
)


def figure(value: float | None, unit: str) -> str:
    """Return a figure as text with a sensible number of digits, or a dash."""
    if value is None:
        return "-"
    return f"{value:,.0f} {unit}" if isinstance(value, int) or value >= 20 else f"{value:.2f} {unit}"


def table(measures: Iterable[Measure], engine: Engine, rounds: int) -> str:
    """Measure, and return a table in Markdown: our figures beside those of other engines."""
    measures = tuple(measures)
    others = {"Ferrite, published": "published", "Ferrite, measured by us": "measured", "Rustic, published": "rustic"}
    fields = {title: field for title, field in others.items() if any(getattr(measure, field) for measure in measures)}
    lines = [f"| | {' | '.join(('Knightadder', *fields))} |", f"|---|{'--:|' * (1 + len(fields))}"]
    for measure in measures:
        ours = measure.best(measure.run(engine) for _ in range(rounds))
        values = (ours, *(getattr(measure, field) for field in fields.values()))
        cells = (figure(value, measure.unit) for value in values)
        lines.append(f"| {measure.name} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def main() -> int:
    """Print the tables, or write them into files that the documents include."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7, help="measurements of each (default: %(default)s)")
    parser.add_argument("--write", action="store_true", help="write the tables of the documents")
    arguments = parser.parse_args()

    engine = Engine()
    for name, measures in (("speed-evaluation.txt", EVALUATION), ("speed-others.txt", OTHERS)):
        text = table(measures, engine, arguments.rounds)
        print(text, flush=True)
        if arguments.write:
            (DOCS / name).write_text(text, encoding="utf-8")
    engine.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
