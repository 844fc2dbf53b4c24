"""History and killers: gravity keeps entries within limits, cutoffs reward one move and blame those before it."""

from __future__ import annotations

import numpy as np
import pytest
from core_helpers import compiled, new_game

from knightadder.core import history

pytestmark = [pytest.mark.boundscheck, pytest.mark.nojit]

MOVE, OTHER, THIRD = 12 | 28 << 6 | 8 << 12, 6 | 21 << 6, 1 | 18 << 6


@compiled
def reward(worker, side, move, depth, quiets):
    history.reward_quiet(worker, worker.frames[2], side, move, depth, quiets)


@compiled
def forget(worker):
    history.forget_killers(worker, np.int64(2))


@compiled
def look_up(worker, side, move):
    return history.quiet_history(worker, side, move)


@pytest.fixture
def worker() -> np.record:
    return new_game().record


def cutoff(worker: np.record, move: int, depth: int, before: tuple[int, ...] = (), side: int = 0) -> None:
    """Note that a move cut off after others had failed to."""
    worker.frames[2].quiets[: len(before)] = before
    reward(worker, np.int64(side), np.int64(move), np.int64(depth), np.int64(len(before)))


def values(worker: np.record, *moves: int, side: int = 0) -> list[int]:
    return [int(look_up(worker, np.int64(side), np.int64(move))) for move in moves]


def test_a_cutoff_rewards_its_move_and_blames_those_before(worker: np.record) -> None:
    cutoff(worker, MOVE, 3, (OTHER,))
    good, bad, untouched = values(worker, MOVE, OTHER, THIRD)
    assert good == -bad > 0
    assert untouched == 0
    assert values(worker, MOVE, OTHER, side=1) == [0, 0]
    assert np.count_nonzero(worker.history) == 2


def test_deeper_cutoffs_count_more_up_to_a_limit(worker: np.record) -> None:
    rewards = []
    for depth in (1, 4, 8, 50, 128):
        worker.history[:] = 0
        cutoff(worker, MOVE, depth)
        rewards += values(worker, MOVE)
    assert 0 < rewards[0] < rewards[1] < rewards[2] <= rewards[3] == rewards[4]


def test_entries_stay_within_limits(worker: np.record) -> None:
    for depth in (20, 1, 7):
        for _ in range(200):
            cutoff(worker, MOVE, depth, (OTHER,))
            good, bad = values(worker, MOVE, OTHER)
            assert -history.LIMIT <= bad < 0 < good <= history.LIMIT
    assert good > 0.9 * history.LIMIT
    for _ in range(100):
        cutoff(worker, OTHER, 20, (MOVE,))
    good, bad = values(worker, OTHER, MOVE)
    assert -history.LIMIT <= bad < 0 < good <= history.LIMIT


def test_the_last_two_different_moves_are_killers(worker: np.record) -> None:
    killers = worker.frames[2].killers
    cutoff(worker, MOVE, 1)
    cutoff(worker, MOVE, 1)
    assert list(killers) == [MOVE, 0]
    cutoff(worker, OTHER, 1)
    assert list(killers) == [OTHER, MOVE]
    cutoff(worker, THIRD, 1)
    assert list(killers) == [THIRD, OTHER]
    assert not worker.frames[1].killers.any() and not worker.frames[3].killers.any()
    forget(worker)
    assert list(killers) == [0, 0]
