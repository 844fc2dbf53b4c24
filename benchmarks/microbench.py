"""Small loops of the core, timed: evaluation, legal move generation, and the time to a small depth.

They are the figures that the Rust engine Ferrite publishes (criterion's means in its README), whose evaluation is
PeSTO's; beside these stand the figures measured with it on a machine like that of this project's CI, where its search
was timed alone. Ours are CPU times of compiled loops, and for the searches the time of all iterations with their
reports, without the threads around them; the best of several rounds.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from perft_epd import KIWIPETE, START

from knightadder.core.api import microbench
from knightadder.core.api.search import deepen
from knightadder.core.evaluation.evaluate import CLASSICAL, PESTO
from knightadder.core.tables import new_tables
from knightadder.engine.engine import Engine
from knightadder.engine.game import Game
from knightadder.engine.search_thread import NO_NODE_LIMIT, Root, SearchThread


@dataclass(frozen=True, slots=True)
class Measure:
    """One figure.

    Attributes
    ----------
    name, unit : str
        What is measured, and ``ns`` or ``ms``.
    published, measured : float or None
        Ferrite's figure as published, and as measured on a machine like CI's (the lower one of a range).
    run : callable
        Returns our figure, in `unit`; takes an engine.
    """

    name: str
    unit: str
    published: float | None
    measured: float | None
    run: Callable[[Engine], float]


def evaluation(fen: str, chosen: int, count: int = 1_000_000) -> Callable[[Engine], float]:
    """Return a function for the nanoseconds of one static evaluation, `PESTO` or `CLASSICAL`, with hashed pawns."""
    return lambda _: nanoseconds(microbench.time_evaluate, fen, count, chosen)


def generation(fen: str, count: int = 500_000) -> Callable[[Engine], float]:
    """Return a function for the nanoseconds of generating all legal moves of a position."""
    return lambda _: nanoseconds(microbench.time_generate, fen, count)


def nanoseconds(loop: Callable[[Any, Any, int], object], fen: str, count: int, chosen: int = PESTO) -> float:
    """Return the CPU time of one turn of a compiled loop ``loop(tables, worker, count)`` at a position."""
    tables = new_tables(chosen)
    game = Game(tables)
    game.set_up(fen)
    loop(tables, game.record, 1)
    start = time.process_time_ns()
    loop(tables, game.record, count)
    return (time.process_time_ns() - start) / count


def search(fen: str, depth: int) -> Callable[[Engine], float]:
    """Return a function for the milliseconds of a search to a depth, all iterations, with an empty hash table."""

    def run(engine: Engine) -> float:
        engine.new_game()
        engine.set_position(fen)
        root = Root(engine._tables, engine._game, engine._game.legal_moves(), engine._table, np.zeros(1, np.uint64))
        alone = SearchThread(root, engine._workers[0])
        alone.prepare()
        start = time.perf_counter()
        deepen(engine._tables, alone.worker, 1, depth, 1, NO_NODE_LIMIT, 0, False)
        return (time.perf_counter() - start) * 1e3

    return run


MEASURES = (
    Measure("PeSTO, startpos", "ns", 100, 111, evaluation(START, PESTO)),
    Measure("PeSTO, kiwipete", "ns", 100, 111, evaluation(KIWIPETE, PESTO)),
    Measure("classical, startpos", "ns", 100, 111, evaluation(START, CLASSICAL)),
    Measure("classical, kiwipete", "ns", 100, 111, evaluation(KIWIPETE, CLASSICAL)),
    Measure("move generation, startpos", "ns", 360, 642, generation(START)),
    Measure("move generation, kiwipete", "ns", 777, 1386, generation(KIWIPETE)),
    Measure("search to depth 3, startpos", "ms", 1.39, 0.35, search(START, 3)),
    Measure("search to depth 4, startpos", "ms", 2.66, 2.7, search(START, 4)),
    Measure("search to depth 3, kiwipete", "ms", 11.31, 16.5, search(KIWIPETE, 3)),
    Measure("search to depth 4, kiwipete", "ms", None, None, search(KIWIPETE, 4)),
)


def figure(value: float | None, unit: str) -> str:
    """Return a figure as text with a sensible number of digits, or a dash."""
    return "-" if value is None else f"{value:.2f} {unit}" if value < 20 else f"{value:.0f} {unit}"


def main() -> int:
    """Print our figures beside Ferrite's; the last column is Ferrite's lower figure divided by ours."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7, help="measurements of each (default: %(default)s)")
    arguments = parser.parse_args()

    engine = Engine()
    print(f"{'':30}{'ours':>12}{'published':>12}{'measured':>12}{'ratio':>8}")
    for measure in MEASURES:
        ours = min(measure.run(engine) for _ in range(arguments.rounds))
        lowest = min((value for value in (measure.published, measure.measured) if value is not None), default=None)
        ratio = "-" if lowest is None else f"{lowest / ours:.1f}"
        print(
            f"{measure.name:30}{figure(ours, measure.unit):>12}{figure(measure.published, measure.unit):>12}"
            f"{figure(measure.measured, measure.unit):>12}{ratio:>8}"
        )
    engine.close()
    print("ratio: the lower one of Ferrite's two figures divided by ours, above 1 where ours is ahead")
    return 0


if __name__ == "__main__":
    sys.exit(main())
