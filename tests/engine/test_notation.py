"""Moves as UCI text, against python-chess."""

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from knightadder.core.board.moves import CASTLING, DOUBLE_PUSH, EN_PASSANT
from knightadder.core.layout import BISHOP, KNIGHT, QUEEN, ROOK
from knightadder.engine.notation import parse_uci, to_uci

SQUARES = st.integers(0, 63)


@given(SQUARES, SQUARES, st.sampled_from([0, KNIGHT, BISHOP, ROOK, QUEEN, int(EN_PASSANT), int(DOUBLE_PUSH)]))
def test_moves_are_written_as_python_chess_writes_them_and_read_back(source: int, target: int, kind: int) -> None:
    # Both number squares and pieces alike, from a1 and from the pawn.
    promotion = kind if KNIGHT <= kind <= QUEEN else 0
    text = to_uci(source | target << 6 | kind << 12)
    if source != target:
        assert text == chess.Move(source, target, promotion or None).uci()
    assert parse_uci(text) == (source, target, promotion)


@pytest.mark.parametrize(
    ("king", "rook", "standard"),
    [("e1", "h1", "e1g1"), ("e1", "a1", "e1c1"), ("e8", "h8", "e8g8"), ("e8", "a8", "e8c8"), ("b1", "c1", "b1g1")],
)
def test_castling_is_the_kings_step_or_king_takes_rook(king: str, rook: str, standard: str) -> None:
    move = chess.parse_square(king) | chess.parse_square(rook) << 6 | int(CASTLING) << 12
    assert to_uci(move) == standard
    assert to_uci(move, chess960=True) == king + rook


@pytest.mark.parametrize("text", ["", "e2", "e2e", "0000", "e2e9", "i2e4", "e7e8k", "e7e8x", "e2e4qq", "é2e4", "O-O"])
def test_other_text_is_no_move(text: str) -> None:
    assert parse_uci(text) is None


def test_a_promotion_may_be_written_in_capitals() -> None:
    assert parse_uci("e7e8Q") == parse_uci("e7e8q") == (52, 60, QUEEN)
