"""The first search of a process, with hash tables of several sizes: whether it is on time, and its nodes.

Memory that is first written during a search would slow the search's first nodes. With ``--busy``, other programs keep
processors busy. The sizes take turns, and medians count. Exit status 1 if a search is late, or visits less than half
of the nodes of the first size.
"""

from __future__ import annotations

import argparse
import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator
from statistics import median

from uci_process import UciProcess

from knightadder.uci.client import UciError

PATIENCE = 600.0  # seconds after which an engine counts as silent


def first_search(command: str, megabytes: int, movetime: int) -> tuple[float, float, int]:
    """Return the seconds until ``readyok``, the seconds from ``go`` to ``bestmove``, and the nodes."""
    with UciProcess(command) as engine:
        engine.send("uci")
        engine.read_until("uciok", PATIENCE)
        start = time.perf_counter()
        engine.send(f"setoption name Hash value {megabytes}", "isready")
        engine.read_until("readyok", PATIENCE)
        ready = time.perf_counter() - start
        start = time.perf_counter()
        engine.send("position startpos", f"go movetime {movetime}")
        lines = engine.read_until("bestmove", PATIENCE)
        seconds = time.perf_counter() - start
    nodes = [int(words[words.index("nodes") + 1]) for words in map(str.split, lines) if "nodes" in words]
    return ready, seconds, nodes[-1] if nodes else 0


@contextlib.contextmanager
def busy_processes(count: int) -> Iterator[None]:
    """Keep `count` processors busy during a ``with`` block."""
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def main() -> int:
    """Measure and print; return exit status 1 if a search is late, slow or silent."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", default=f"'{sys.executable}' -m knightadder", help="command of the engine")
    parser.add_argument(
        "--sizes",
        type=int,
        nargs="+",
        default=[16, 256, 1024, 4096],
        metavar="MB",
        help="sizes of the hash table (default: 16 256 1024 4096)",
    )
    parser.add_argument("--movetime", type=int, default=500, metavar="MS", help="time limit (default: %(default)s)")
    parser.add_argument("--late", type=int, default=100, metavar="MS", help="allowed delay (default: %(default)s)")
    parser.add_argument("--busy", type=int, default=0, metavar="N", help="processes that keep processors busy")
    parser.add_argument("--rounds", type=int, default=3, help="searches with each size (default: %(default)s)")
    arguments = parser.parse_args()

    found: dict[int, list[tuple[float, float, int]]] = {size: [] for size in arguments.sizes}
    try:
        with busy_processes(arguments.busy):
            for _ in range(arguments.rounds):
                for size, searches in found.items():
                    searches.append(first_search(arguments.engine, size, arguments.movetime))
    except UciError as error:
        print(f"FAILED: {error}")
        return 1
    good, expected = True, 0.0
    for size, searches in found.items():
        ready, seconds, nodes = (median(values) for values in zip(*searches, strict=True))
        expected = expected or nodes
        on_time = seconds * 1000 <= arguments.movetime + arguments.late
        good = good and on_time and 2 * nodes >= expected
        print(
            f"Hash {size:5}: ready after {ready:5.2f} s, searched {seconds:.3f} s, "
            f"{'on time' if on_time else 'LATE'}, {nodes:.0f} nodes ({nodes / max(expected, 1):.0%})"
        )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
