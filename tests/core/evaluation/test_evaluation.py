"""The evaluation that search calls: which parts it is made of, and that it treats both sides alike."""

from __future__ import annotations

import chess
import pytest
from compiling import compiled
from core_helpers import TABLES, new_game, random_positions, set_up

from knightadder.core.api.static_eval import static_value
from knightadder.core.evaluation import endings, pesto, score
from knightadder.native.program import INTERPRETED

pytestmark = [pytest.mark.boundscheck, pytest.mark.nojit]


def boards() -> list[chess.Board]:
    return random_positions(20 if INTERPRETED else 300) + random_positions(10, chess960=True)


GAME = new_game()


@compiled
def piece_squares(pos):
    return pesto.evaluate(pos), score.game_phase(pos)


def test_the_middle_game_is_worth_its_piece_squares_less_what_the_fifty_move_rule_takes() -> None:
    compared = 0
    for board in boards():
        record = set_up(GAME, board)
        value, phase = piece_squares(record.stack[0])
        if phase > endings.FEW_PIECES:
            expected = int(value) * (200 - board.halfmove_clock) // 200  # down to half of it
            assert static_value(TABLES, record) == expected, board.fen()
            compared += 1
    assert compared > len(boards()) / 4


def test_mirrored_positions_are_worth_the_same() -> None:
    for board in boards():
        value = static_value(TABLES, set_up(GAME, board))
        assert static_value(TABLES, set_up(GAME, board.mirror())) == value, board.fen()
