"""Correction history: what a search found out is added to later evaluations of like positions, within limits."""

from __future__ import annotations

import chess
import numpy as np
import pytest
from compiling import compiled
from core_helpers import TABLES, new_game, random_positions, set_up

from knightadder.core.api.static_eval import static_value
from knightadder.core.evaluation.evaluate import MAX_EVAL
from knightadder.core.search import correction
from knightadder.native.program import INTERPRETED

pytestmark = [pytest.mark.boundscheck, pytest.mark.nojit]


PLY = np.int64(5)
HISTORIES = ("pawn_correction", "non_pawn_correction", "minor_correction", "continuation_correction")


@compiled
def learn(worker, difference, depth):
    correction.update_corrections(worker, worker.stack[0], PLY, difference, depth)


@compiled
def corrected(tables, worker):
    return correction.corrected_eval(tables, worker, worker.stack[0], PLY)


@pytest.fixture
def record() -> np.record:
    return new_game(chess.Board("r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3")).record


def static(record: np.record) -> int:
    return static_value(TABLES, record)


def value(record: np.record) -> int:
    return int(corrected(TABLES, record))


@pytest.mark.parametrize("difference", [60, -60])
def test_the_correction_goes_where_searches_came_out(record: np.record, difference: int) -> None:
    values = [value(record)]
    for _ in range(3):
        learn(record, np.int64(difference), np.int64(8))
        values.append(value(record))
    assert values == sorted(set(values), reverse=difference < 0)


def test_positions_that_share_pawns_share_a_correction_and_others_do_not(record: np.record) -> None:
    for _ in range(20):
        learn(record, np.int64(200), np.int64(10))
    game = new_game()
    kept = {name: record[name].copy() for name in HISTORIES if name != "continuation_correction"}

    def difference(fen: str) -> int:
        other = set_up(game, fen)
        for name, table in kept.items():
            other[name] = table
        return value(other) - static(other)

    assert difference("4kb1r/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/4KB1R w - - 0 1") > 0  # the same pawns
    assert difference("4kb1r/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/4KB1R b - - 0 1") == 0  # ... the other side to move
    assert difference("4kb1r/pppp2pp/5p2/4p3/4P3/8/PPPP1PPP/4KB1R w - - 0 1") == 0
    # Only White's pieces are the same, then only the minor pieces and kings of both sides.
    assert difference("4k3/8/8/8/8/5N2/8/RNBQKB1R w - - 0 1") > 0
    assert difference("2b1kbn1/8/2n5/8/8/5N2/8/1NB1KB2 w - - 0 1") > 0


def test_no_correction_reaches_a_mate_score() -> None:
    game = new_game()
    for board in random_positions(3 if INTERPRETED else 20):
        record = set_up(game, board)
        for _ in range(200):
            learn(record, np.int64(32_000), np.int64(100))
        assert static(record) < value(record) <= MAX_EVAL
        for _ in range(400):
            learn(record, np.int64(-32_000), np.int64(100))
        assert -MAX_EVAL <= value(record) < static(record)
