"""History and killers: gravity keeps entries within limits, cutoffs reward one move and blame those before it."""

from __future__ import annotations

import chess
import numpy as np
import pytest
from compiling import compiled
from core_helpers import TABLES, new_game

from knightadder.core.search import history
from knightadder.core.search.frame import PIECE_TO
from knightadder.core.search.transposition import NO_EVAL

pytestmark = [pytest.mark.boundscheck, pytest.mark.nojit]

MOVE, OTHER, THIRD = 12 | 28 << 6 | 8 << 12, 6 | 21 << 6, 1 | 18 << 6  # e2e4, g1f3, b1c3
ROWS = (3 * PIECE_TO, 5 * PIECE_TO, 9 * PIECE_TO)  # of the continuation history


@compiled
def update_histories(tables, worker, move, depth, is_quiet, quiets, noisies):
    history.update_histories(tables, worker, worker.stack[0], worker.frames[2], move, depth, is_quiet, quiets, noisies)


@compiled
def update_prior_move(tables, worker, move, depth):
    worker.frames[2].move = move
    history.update_prior_move(tables, worker, worker.stack[0], worker.frames[2], depth)


@compiled
def update_post_lmr(tables, worker, move, depth, is_good):
    history.update_post_lmr(tables, worker, worker.stack[0], worker.frames[2], move, depth, is_good)


@compiled
def update_by_eval(tables, worker):
    history.update_by_eval(tables, worker, np.int64(3))


@compiled
def forget(worker):
    history.clear_killers(worker, np.int64(2))


@compiled
def look_up(worker, move):
    return history.quiet_history(worker, worker.stack[0], worker.frames[2], move)


@compiled
def capture_history(worker, move):
    return history.capture_history(worker, worker.stack[0], move)


@compiled
def prepare_histories(tables, worker, ply):
    history.prepare_histories(tables, worker, worker.stack[0], worker.frames[ply], ply)


@pytest.fixture
def worker() -> np.record:
    return new_game().record


def cutoff(
    worker: np.record,
    move: int,
    depth: int,
    before: tuple[int, ...] = (),
    noisy: bool = False,
    noisies: tuple[int, ...] = (),
) -> None:
    """Note that a move cut off after others had failed to."""
    frame = worker.frames[2]
    frame.continuations[:] = ROWS
    frame.quiets[: len(before)] = before
    frame.noisies[: len(noisies)] = noisies
    numbers = (np.int64(number) for number in (not noisy, len(before), len(noisies)))
    update_histories(TABLES, worker, np.int64(move), np.int64(depth), *numbers)


def values(worker: np.record, *moves: int) -> list[int]:
    return [int(worker.history[0][0][move & 4095]) for move in moves]


def test_a_cutoff_rewards_its_move_and_blames_those_before(worker: np.record) -> None:
    cutoff(worker, MOVE, 3, (OTHER,))
    good, bad, untouched = values(worker, MOVE, OTHER, THIRD)
    assert good > 0 > bad
    assert untouched == 0
    assert np.count_nonzero(worker.history) == 2


def test_a_refutation_gets_half_of_what_a_cutoff_gets(worker: np.record) -> None:
    cutoff(worker, MOVE, 5)
    full = values(worker, MOVE)[0]
    update_prior_move(TABLES, worker, np.int64(OTHER), np.int64(5))
    assert values(worker, MOVE, OTHER) == [full, full // 2]
    knight_f3 = 2 * 64 + 21
    assert {int(worker.continuation[row + knight_f3]) for row in ROWS} == {full // 2}


@pytest.mark.parametrize("is_good", [True, False])
def test_a_second_search_counts_in_the_continuation_history_only(worker: np.record, is_good: bool) -> None:
    worker.frames[2].continuations[:] = ROWS
    update_post_lmr(TABLES, worker, np.int64(MOVE), np.int64(5), is_good)
    assert not worker.history.any()
    changed = np.flatnonzero(worker.continuation)
    assert list(changed) == [row + 1 * 64 + 28 for row in ROWS]
    assert all((worker.continuation[changed] > 0) == is_good)


def test_neither_captures_nor_passing_are_rewarded_as_refutations() -> None:
    worker = new_game("4k3/8/8/3p1q2/4P3/8/8/4K3 w - - 0 1").record
    for move in (28 | 35 << 6, 0):
        update_prior_move(TABLES, worker, np.int64(move), np.int64(5))
    assert not worker.history.any() and not worker.continuation.any() and not worker.captures.any()


@pytest.mark.parametrize(
    ("before", "after", "bonus"),
    [
        (30, 50, 20 * TABLES.parameters.eval_bonus_slope),  # from the view of the side that moved
        (30, -10, -40 * TABLES.parameters.eval_bonus_slope),
        (30, 2000, TABLES.parameters.eval_bonus_max),
        (30, -2000, -TABLES.parameters.eval_bonus_max),
        (30, 30, 0),
        (NO_EVAL, 50, 0),
        (30, -NO_EVAL, 0),
    ],
)
def test_a_quiet_move_is_rewarded_by_how_it_changed_the_evaluation(
    worker: np.record, before: int, after: int, bonus: int
) -> None:
    worker.frames[2].static_eval, worker.frames[3].static_eval = before, -after
    worker.frames[2].threats = 1 << 28
    worker.stack[2] = worker.stack[0]
    worker.frames[2].move = MOVE
    update_by_eval(TABLES, worker)
    assert int(worker.history[0][2][MOVE & 4095]) == bonus
    assert np.count_nonzero(worker.history) == (bonus != 0)


def test_neither_captures_nor_passing_are_rewarded_by_the_evaluation() -> None:
    worker = new_game("4k3/8/8/3p1q2/4P3/8/8/4K3 w - - 0 1").record
    worker.stack[2] = worker.stack[0]
    worker.frames[3].static_eval = 100
    for move in (28 | 35 << 6, 0):
        worker.frames[2].move = move
        update_by_eval(TABLES, worker)
    assert not worker.history.any()


def test_the_continuation_history_is_kept_by_earlier_move_piece_and_target(worker: np.record) -> None:
    cutoff(worker, MOVE, 3, (OTHER,))
    good = values(worker, MOVE)[0]
    pawn_e4, knight_f3 = 1 * 64 + 28, 2 * 64 + 21
    assert list(np.flatnonzero(worker.continuation)) == sorted(row + to for row in ROWS for to in (pawn_e4, knight_f3))
    assert {int(worker.continuation[row + pawn_e4]) for row in ROWS} == {good}
    assert look_up(worker, np.int64(MOVE)) == 4 * good
    worker.frames[2].continuations[:] = 7 * PIECE_TO
    assert look_up(worker, np.int64(MOVE)) == good


def test_captures_have_a_history_by_piece_target_and_victim() -> None:
    worker = new_game("4k3/8/8/3p1q2/4P3/8/8/4K3 w - - 0 1").record
    takes_pawn, takes_queen = 28 | 35 << 6, 28 | 37 << 6
    cutoff(worker, takes_queen, 3, noisy=True, noisies=(takes_pawn,))
    good, bad = (int(worker.captures[(64 + target) * 8 + victim]) for target, victim in ((37, 5), (35, 1)))
    assert good > 0 > bad
    assert np.count_nonzero(worker.captures) == 2
    assert not worker.history.any() and not worker.continuation.any()
    assert not worker.frames[2].killers.any()
    assert capture_history(worker, np.int64(takes_queen)) == good


def test_a_quiet_cutoff_blames_the_captures_before_it() -> None:
    worker = new_game("4k3/8/8/3p1q2/4P3/8/8/4K3 w - - 0 1").record
    cutoff(worker, 28 | 36 << 6, 3, noisies=(28 | 35 << 6,))
    assert worker.captures[(64 + 35) * 8 + 1] < 0
    assert worker.history[0][0][28 | 36 << 6] > 0


def test_rows_come_from_the_moves_one_two_and_four_plies_before(worker: np.record) -> None:
    for ply in range(6):
        worker.frames[ply].piece_to = 10 + ply
    for ply, expected in ((0, [0, 0, 0]), (1, [10, 0, 0]), (3, [12, 11, 0]), (5, [14, 13, 11])):
        prepare_histories(TABLES, worker, np.int64(ply))
        assert list(worker.frames[ply].continuations) == [place * PIECE_TO for place in expected]


@pytest.mark.parametrize(
    ("threats", "attacked"), [((), 0), ((12,), 1), ((28,), 2), ((12, 28), 3), ((11, 13, 27, 29), 0)]
)
def test_moves_in_danger_have_a_history_of_their_own(
    worker: np.record, threats: tuple[int, ...], attacked: int
) -> None:
    worker.frames[2].threats = sum(1 << square for square in threats)
    cutoff(worker, MOVE, 3)
    assert list(zip(*np.nonzero(worker.history), strict=True)) == [(0, attacked, MOVE & 4095)]
    value = int(worker.history[0][attacked][MOVE & 4095])
    assert look_up(worker, np.int64(MOVE)) == 4 * value
    worker.frames[2].threats = ~worker.frames[2].threats
    assert look_up(worker, np.int64(MOVE)) == 3 * value


def test_threats_are_what_the_opponent_attacks(worker: np.record) -> None:
    prepare_histories(TABLES, worker, np.int64(0))
    assert int(worker.frames[0].threats) == chess.BB_RANK_6 | chess.BB_RANK_7 | chess.BB_RANK_8 & ~(
        chess.BB_A8 | chess.BB_H8
    )


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
