"""Start-up, first move and memory of the engine as a whole process, over plain UCI.

Cold: the cache folder is empty, so the core is compiled. Warm: it was filled by the start before. Then memory after a
search with 64 MB of hash, and several engines started at the same moment on one empty cache, as a match runner does on
a fresh machine. Exit status 1 if an engine doesn't answer.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from statistics import median

from uci_process import UciProcess

from knightadder.workshop.uci_client import UciError

CACHE_VARIABLE = "KNIGHTADDER_CACHE"
PATIENCE = 180.0  # seconds until an engine counts as silent
HASH_MB = 64


@dataclass(frozen=True, slots=True)
class Start:
    """Seconds from starting the process to each answer."""

    uciok: float
    readyok: float
    bestmove: float


def start_and_move(command: str, cache: str, movetime: int) -> Start:
    """Start an engine, let it play one move, and return the times.

    Parameters
    ----------
    command : str
        Command of the engine.
    cache : str
        Folder of its compiled code.
    movetime : int
        Milliseconds for the move.

    Returns
    -------
    Start
        Times of its answers.

    Raises
    ------
    UciError
        If it doesn't.
    """
    with UciProcess(command, {CACHE_VARIABLE: cache}) as engine:
        engine.send("uci")
        engine.read_until("uciok", PATIENCE)
        uciok = time.perf_counter() - engine.started
        engine.send("isready")
        engine.read_until("readyok", PATIENCE)
        readyok = time.perf_counter() - engine.started
        engine.send("position startpos", f"go movetime {movetime}")
        engine.read_until("bestmove", PATIENCE)
        return Start(uciok, readyok, time.perf_counter() - engine.started)


def peak_memory(command: str, cache: str) -> float:
    """Return the peak resident memory in MB after a search of three seconds with `HASH_MB` of hash."""
    with UciProcess(command, {CACHE_VARIABLE: cache}) as engine:
        engine.send("uci", f"setoption name Hash value {HASH_MB}", "isready")
        engine.read_until("readyok", PATIENCE)
        engine.send("position startpos", "go movetime 3000")
        engine.read_until("bestmove", PATIENCE)
        return engine.peak_memory()


def parallel_starts(command: str, count: int) -> list[str]:
    """Start several engines at once on one empty cache, let each play one move, and return the errors.

    Parameters
    ----------
    command : str
        Command of the engine.
    count : int
        Number of engines.

    Returns
    -------
    list of str
        A message for each engine that failed.
    """
    failures: list[str] = []
    seconds: list[float] = []

    def one(number: int, cache: str) -> None:
        try:
            seconds.append(start_and_move(command, cache, movetime=200).bestmove)
        except UciError as error:
            failures.append(f"engine {number}: {error}")

    with tempfile.TemporaryDirectory() as cache:
        threads = [threading.Thread(target=one, args=(number, cache)) for number in range(1, count + 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    slowest = f", the slowest after {max(seconds):.1f} s" if seconds else ""
    print(f"{count} at once on an empty cache: {len(seconds)} played a move{slowest}")
    return failures


def show(label: str, value: float, unit: str, wanted: float | None = None) -> None:
    """Print a figure and, if there is a limit, the limit and whether it is met."""
    limit = "" if wanted is None else f"   wanted below {wanted:g} {unit}: {'yes' if value < wanted else 'NO'}"
    print(f"{label:40}{value:10.2f} {unit}{limit}")


def main() -> int:
    """Measure and print; return exit status 1 if an engine doesn't answer."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", default=f"'{sys.executable}' -m knightadder", help="command of the engine")
    parser.add_argument("--rounds", type=int, default=3, help="warm starts, the median counts (default: %(default)s)")
    parser.add_argument("--parallel", type=int, default=8, help="engines started at once (default: %(default)s)")
    arguments = parser.parse_args()

    try:
        with tempfile.TemporaryDirectory() as cache:
            cold = start_and_move(arguments.engine, cache, movetime=100)
            show("cold: uciok after", cold.uciok, "s", 1)
            show("cold: readyok after", cold.readyok, "s", 30)
            show("cold: bestmove of 0.1 s after", cold.bestmove, "s")
            warm = [start_and_move(arguments.engine, cache, movetime=100) for _ in range(arguments.rounds)]
            show("warm: uciok after", median(start.uciok for start in warm), "s", 1)
            show("warm: readyok after", median(start.readyok for start in warm), "s", 1)
            show("warm: bestmove of 0.1 s after", median(start.bestmove for start in warm), "s")
            show(f"peak memory with Hash {HASH_MB}", peak_memory(arguments.engine, cache), "MB", 350)
    except UciError as error:
        print(f"FAILED: {error}")
        return 1
    failures = parallel_starts(arguments.engine, arguments.parallel)
    for failure in failures:
        print(f"FAILED: {failure}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
