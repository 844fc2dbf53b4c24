"""What the page is told of positions, with python-chess as the oracle."""

import random

import chess
import pytest

from knightadder.web.views import legal_view, premoves_view


def _pairs(view):
    """Give the moves of a view as pairs of squares with the move in UCI's notation."""
    return {(start, goal, uci) for start, goals in view.items() for goal, uci in goals.items()}


@pytest.mark.parametrize("chess960", [False, True])
def test_whatever_becomes_legal_can_be_made_in_advance(chess960):
    chance = random.Random(1)
    for _ in range(10):
        board = chess.Board.from_chess960_pos(chance.randrange(960)) if chess960 else chess.Board()
        while not board.is_game_over() and board.ply() < 80:
            premoves = _pairs(premoves_view(board, not board.turn))
            move = chance.choice(list(board.legal_moves))
            board.push(move)
            assert _pairs(legal_view(board)) <= premoves, board.fen()


def test_no_piece_is_moved_in_advance_against_its_nature():
    board = chess.Board()
    board.push_san("e4")
    moves = premoves_view(board, chess.WHITE)
    assert moves["b1"] == {"a3": "b1a3", "c3": "b1c3", "d2": "b1d2"}
    assert moves["e4"] == {"d5": "e4d5", "e5": "e4e5", "f5": "e4f5"}
    assert moves["e1"]["g1"] == moves["e1"]["h1"] == "e1g1" and "e3" not in moves["e1"]
    assert set(moves) == {chess.square_name(square) for square in chess.SquareSet(board.occupied_co[chess.WHITE])}
