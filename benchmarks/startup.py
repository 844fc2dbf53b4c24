"""Start-up and memory of the engine as a whole process, over plain UCI, beside ``python -c "import numpy"``.

Both take turns, so that a busy machine slows both. Then several engines start at the same time, as in a match.
Exit status 1 if an engine does not answer.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from statistics import median

from uci_process import UciProcess

from knightadder.uci.client import UciError

PATIENCE = 180.0  # seconds after which an engine counts as silent
HASH_MB = 16


@dataclass(frozen=True, slots=True)
class Start:
    """Seconds from starting the process to each answer, and megabytes after ``readyok``."""

    uciok: float
    readyok: float
    bestmove: float
    memory: float


def start_and_move(command: str) -> Start:
    """Start an engine and let it play a move of a tenth of a second; UciError if that fails."""
    with UciProcess(command) as engine:
        engine.send("uci")
        engine.read_until("uciok", PATIENCE)
        uciok = time.perf_counter() - engine.started
        engine.send(f"setoption name Hash value {HASH_MB}", "isready")
        engine.read_until("readyok", PATIENCE)
        readyok, memory = time.perf_counter() - engine.started, engine.peak_memory()
        engine.send("position startpos", "go movetime 100")
        engine.read_until("bestmove", PATIENCE)
        return Start(uciok, readyok, time.perf_counter() - engine.started, memory)


def import_numpy() -> float:
    """Return the seconds of ``python -c "import numpy"``."""
    start = time.perf_counter()
    # In a separate session, like the engine, because the scheduler shares the processors among sessions.
    subprocess.run([sys.executable, "-c", "import numpy"], check=True, start_new_session=True)
    return time.perf_counter() - start


def parallel_starts(command: str, count: int) -> list[str]:
    """Start several engines at once, let each play one move, and return a message for each that failed."""
    failures: list[str] = []
    starts: list[Start] = []

    def one(number: int) -> None:
        try:
            starts.append(start_and_move(command))
        except UciError as error:
            failures.append(f"engine {number}: {error}")

    threads = [threading.Thread(target=one, args=(number,)) for number in range(1, count + 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    slowest = f", the slowest ready after {max(start.readyok for start in starts):.1f} s" if starts else ""
    print(f"{count} at once: {len(starts)} played a move{slowest}")
    return failures


def show(label: str, value: float, unit: str, wanted: float | None = None) -> None:
    """Print a figure and, if there is a limit, the limit and whether the figure meets it."""
    limit = "" if wanted is None else f"   wanted at most {wanted:g} {unit}: {'yes' if value <= wanted else 'NO'}"
    print(f"{label:40}{value:10.2f} {unit}{limit}")


def main() -> int:
    """Measure and print; return exit status 1 if an engine doesn't answer."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", default=f"'{sys.executable}' -m knightadder", help="command of the engine")
    parser.add_argument(
        "--rounds", type=int, default=9, help="starts, of which the median counts (default: %(default)s)"
    )
    parser.add_argument("--parallel", type=int, default=8, help="engines started at once (default: %(default)s)")
    arguments = parser.parse_args()

    numpy, starts = [], []
    try:
        for _ in range(arguments.rounds):
            numpy.append(import_numpy())
            starts.append(start_and_move(arguments.engine))
    except UciError as error:
        print(f"FAILED: {error}")
        return 1
    show("import numpy", median(numpy), "s")
    show("uciok after", median(start.uciok for start in starts), "s")
    show("readyok after", median(start.readyok for start in starts), "s")
    ratios = (start.readyok / seconds for start, seconds in zip(starts, numpy, strict=True))
    show("readyok, in imports of numpy", median(ratios), "", 2.5)
    show("bestmove of 0.1 s after", median(start.bestmove for start in starts), "s")
    show(f"peak memory after readyok, Hash {HASH_MB}", median(start.memory for start in starts), "MB", 80)
    failures = parallel_starts(arguments.engine, arguments.parallel)
    for failure in failures:
        print(f"FAILED: {failure}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
