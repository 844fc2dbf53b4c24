"""History: gravity keeps entries within limits. What moves earn is in the signature of `bench`."""

from __future__ import annotations

import chess
import numpy as np
import pytest
from compiling import compiled
from core_helpers import TABLES, new_game

from knightadder.core.search import history
from knightadder.core.search.frame import PIECE_TO

pytestmark = [pytest.mark.boundscheck, pytest.mark.nojit]

MOVE, OTHER = 12 | 28 << 6 | 8 << 12, 6 | 21 << 6  # e2e4, g1f3
ROWS = (3 * PIECE_TO, 5 * PIECE_TO, 9 * PIECE_TO)  # of the continuation history


@compiled
def update_histories(tables, worker, move, depth, is_quiet, quiets, noisies):
    history.update_histories(tables, worker, worker.stack[0], worker.frames[2], move, depth, is_quiet, quiets, noisies)


@compiled
def prepare_histories(tables, worker, ply):
    history.prepare_histories(tables, worker, worker.stack[0], worker.frames[ply], ply)


@pytest.fixture
def worker() -> np.record:
    return new_game().record


def cutoff(worker: np.record, move: int, depth: int, before: int) -> None:
    """Note that a quiet move cut off after another had failed to."""
    frame = worker.frames[2]
    frame.continuations[:] = ROWS
    frame.quiets[0] = before
    update_histories(TABLES, worker, *(np.int64(number) for number in (move, depth, 1, 1, 0)))


def values(worker: np.record, *moves: int) -> list[int]:
    return [int(worker.history[0][0][move & 4095]) for move in moves]


def test_threats_are_what_the_opponent_attacks(worker: np.record) -> None:
    prepare_histories(TABLES, worker, np.int64(0))
    assert int(worker.frames[0].threats) == chess.BB_RANK_6 | chess.BB_RANK_7 | chess.BB_RANK_8 & ~(
        chess.BB_A8 | chess.BB_H8
    )


def test_entries_stay_within_limits(worker: np.record) -> None:
    for depth in (20, 1, 7):
        for _ in range(200):
            cutoff(worker, MOVE, depth, OTHER)
            good, bad = values(worker, MOVE, OTHER)
            assert -history.LIMIT <= bad < 0 < good <= history.LIMIT
    assert good > 0.9 * history.LIMIT
    for _ in range(100):
        cutoff(worker, OTHER, 20, MOVE)
    good, bad = values(worker, OTHER, MOVE)
    assert -history.LIMIT <= bad < 0 < good <= history.LIMIT
