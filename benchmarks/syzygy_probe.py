"""The time of a Syzygy tablebase probe, compared with python-chess's prober in the same run.

Both probe the same random positions of all tables in a folder. Our times are CPU times of compiled loops, which probe
as a search does; python-chess is called as its users call it. Both have all tables open and in memory. They take turns,
and the best of several rounds counts.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import chess
import chess.syzygy
import numpy as np
from numba import njit

from knightadder.core.board.position import POSITION
from knightadder.core.syzygy import probe as syzygy
from knightadder.core.tables import new_tables
from knightadder.core.worker import WORKER
from knightadder.engine.game import Game
from knightadder.engine.tablebases.registry import SHIPPED, Tablebases
from knightadder.native.builder import teach_numba
from knightadder.native.jit import copy_record
from knightadder.native.records import new_record

TURNS = 20  # number of repetitions in the compiled loops, so that their times are long enough to measure


def loop_over(probe: Callable[..., Any]) -> Callable[..., int]:
    """Return a compiled loop that probes all positions several times and sums the values."""
    teach_numba()

    @njit(nogil=True, error_model="numpy")
    def loop(tables, tablebases, worker, positions, turns):  # type: ignore[no-untyped-def]
        total = 0
        for _ in range(turns):
            for i in range(len(positions)):
                copy_record(worker.stack[0], positions[i])
                total += probe(tables, tablebases, worker, np.int64(0))[0]
        return total

    return loop


def random_board(name: str, generator: random.Random) -> chess.Board:
    """Return a random legal position with the pieces of a table such as ``KRPvKN``."""
    white, black = name.split("v")
    pieces = white + black.lower()
    while True:
        board = chess.Board(None)
        for square, piece in zip(generator.sample(range(64), len(pieces)), pieces, strict=True):
            board.set_piece_at(square, chess.Piece.from_symbol(piece))
        board.turn = generator.random() < 0.5
        if board.is_valid():
            return board if generator.random() < 0.5 else board.mirror()


def time_probes(probes: int, run: Callable[..., int], *arguments: Any) -> tuple[float, int]:
    """Return the CPU time per probe of a call, in microseconds, and the sum of the values."""
    start = time.process_time_ns()
    total = run(*arguments)
    return (time.process_time_ns() - start) / probes / 1e3, total


def main() -> int:
    """Print microseconds per probe and the ratios; fail if the values differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=SHIPPED, help="folder of tables (default: the shipped tables)")
    parser.add_argument("--positions", type=int, default=2000, help="number of positions (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each (default: %(default)s)")
    arguments = parser.parse_args()

    tables, worker = new_tables(), new_record(WORKER)
    tablebases = Tablebases(tables, [arguments.folder])
    names = sorted(set(tablebases.names) & set(tablebases.dtz_names))
    if not names:
        parser.error(f"no tables in {arguments.folder}")
    generator = random.Random(1)
    boards = [random_board(names[i % len(names)], generator) for i in range(arguments.positions)]
    generator.shuffle(boards)
    positions = np.zeros(len(boards), POSITION)
    game = Game(tables)
    for i, board in enumerate(boards):
        game.set_up(board.fen())
        positions[i] = game.record.stack[0]

    print(f"{len(boards)} positions of {len(names)} tables with up to {tablebases.largest} men")
    print(f"{'':6}{'ours':>12}{'python-chess':>16}{'ratio':>8}")
    sums_agree = True
    with chess.syzygy.open_tablebase(str(arguments.folder), max_fds=None) as reference:
        rows: tuple[tuple[str, Any, Callable[[chess.Board], int]], ...] = (
            ("WDL", loop_over(syzygy.probe_wdl), reference.probe_wdl),
            ("DTZ", loop_over(syzygy.probe_dtz), reference.probe_dtz),
        )
        for name, loop, probe in rows:
            loop(tables, tablebases.record, worker, positions, 1)
            sum(map(probe, boards))
            ours, theirs = [], []
            for _ in range(arguments.rounds):
                ours.append(time_probes(TURNS * len(boards), loop, tables, tablebases.record, worker, positions, TURNS))
                theirs.append(time_probes(len(boards), lambda probe: sum(map(probe, boards)), probe))
            sums_agree &= ours[0][1] == TURNS * theirs[0][1]
            fast, slow = min(ours)[0], min(theirs)[0]
            print(f"{name:6}{fast:>9.2f} us{slow:>13.0f} us{slow / fast:>8.0f}")
    if not sums_agree:
        print("the values differ", file=sys.stderr)
    return 0 if sums_agree else 1


if __name__ == "__main__":
    sys.exit(main())
