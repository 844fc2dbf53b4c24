"""PeSTO's evaluation against a plain re-computation from its tables, and its symmetry."""

from __future__ import annotations

import chess
import pytest
from compiling import compiled
from core_helpers import new_game, random_positions, set_up

from knightadder.core.evaluation import pesto
from knightadder.native.program import INTERPRETED

pytestmark = [pytest.mark.boundscheck, pytest.mark.nojit]


def boards() -> list[chess.Board]:
    return random_positions(20 if INTERPRETED else 300) + random_positions(10, chess960=True)


@compiled
def value(pos):
    return pesto.evaluate(pos)


def plain_value(board: chess.Board) -> int:
    """Evaluate as the Chess Programming Wiki describes PeSTO, rounded down from the side to move's view."""
    phases = {chess.KNIGHT: 1, chess.BISHOP: 1, chess.ROOK: 2, chess.QUEEN: 4}
    middle = end = phase = 0
    for square, piece in board.piece_map().items():
        sign = 1 if piece.color == board.turn else -1
        printed = square ^ 56 if piece.color == chess.WHITE else square  # the tables start with a8
        kind = piece.piece_type
        middle += sign * (pesto.MIDDLE_GAME_VALUES[kind] + pesto.MIDDLE_GAME[kind - 1][printed])
        end += sign * (pesto.END_GAME_VALUES[kind] + pesto.END_GAME[kind - 1][printed])
        phase += phases.get(kind, 0)
    phase = min(phase, 24)
    return (middle * phase + end * (24 - phase)) // 24


GAME = new_game()


def evaluate(board: chess.Board | str | None) -> int:
    """Evaluate with the engine."""
    return int(value(set_up(GAME, board).stack[0]))


def test_values_equal_a_plain_computation() -> None:
    for board in boards():
        assert evaluate(board) == plain_value(board), board.fen()


def test_the_tables_are_those_published() -> None:
    # Sums over the board by piece, pawn to king, of the published tables, and one value of each but the pawn's.
    assert [sum(table) for table in pesto.MIDDLE_GAME] == [759, -59, 341, 505, 146, -999]
    assert [sum(table) for table in pesto.END_GAME] == [2043, -1018, -268, 52, 565, 176]
    spots = [(chess.KNIGHT, "a8"), (chess.BISHOP, "f7"), (chess.ROOK, "d7"), (chess.QUEEN, "f8"), (chess.KING, "g1")]
    values = [pesto.MIDDLE_GAME[kind - 1][chess.parse_square(name) ^ 56] for kind, name in spots]
    assert values == [-167, 59, 62, 44, 24]


def test_facts() -> None:
    assert evaluate(None) == 0
    # All the material is left, so only the middle game counts: the pawn gains 17 on e4 and leaves -15 on e2.
    after_e4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"
    assert evaluate(after_e4) == -(17 + 15)
    # Only the end game counts: 94 for the pawn and 178 for being on a7; the kings cancel out.
    assert evaluate("4k3/P7/8/8/8/8/8/4K3 w - - 0 1") == 94 + 178
