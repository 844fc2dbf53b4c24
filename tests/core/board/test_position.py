"""Making moves: what is kept up to date equals what setting up the new position gives."""

from __future__ import annotations

import random

import chess
import numpy as np
import pytest
from compiling import compiled
from core_helpers import TABLES, encode, new_game, random_game, random_positions, set_up, start_boards

from knightadder.core.api import playing as core_game
from knightadder.core.board.position import make_null
from knightadder.native.program import INTERPRETED

pytestmark = [pytest.mark.boundscheck, pytest.mark.nojit]

GAMES = 3 if INTERPRETED else 40


@compiled
def null_move(tables, worker):
    make_null(tables, worker.stack[0], worker.stack[1])


def facts(position: np.record) -> dict[str, object]:
    """Give all fields of a position but the one that depends on how it was reached."""
    return {name: position[name].tolist() for name in position.dtype.names if name != "plies_from_null"}


def pinned(board: chess.Board) -> int:
    """Give the pieces of the side to move that are pinned to its king."""
    own = chess.SquareSet(board.occupied_co[board.turn] & ~board.kings)
    return sum(chess.BB_SQUARES[square] for square in own if board.is_pinned(board.turn, square))


@pytest.mark.parametrize("chess960", [False, True])
def test_making_moves_equals_setting_up(chess960: bool) -> None:
    generator = random.Random(chess960)
    fresh = new_game()
    rare = {"castling": 0, "en passant": 0, "promotion": 0}
    for board, _ in zip(start_boards(1, chess960), range(GAMES), strict=False):
        game = new_game(board)
        for move in random_game(board, generator):
            rare["castling"] += board.is_castling(move)
            rare["en passant"] += board.is_en_passant(move)
            rare["promotion"] += move.promotion is not None
            core_game.play(TABLES, game.record, encode(board, move))
            board.push(move)
            position = game.record.stack[0]
            assert facts(position) == facts(set_up(fresh, board).stack[0]), board.fen()
            assert int(position.checkers) == board.checkers_mask()
            assert int(position.pinned) == pinned(board)
            assert int(position.castling) == board.clean_castling_rights()
            assert int(position.rule50) == board.halfmove_clock
            board.pop()
    assert INTERPRETED or min(rare.values()) > 0, rare


def test_null_move() -> None:
    game, after = new_game(), new_game()
    tried = 0
    for board in random_positions(20 if INTERPRETED else 200):
        if board.is_check():
            continue
        tried += 1
        record = set_up(game, board)
        null_move(TABLES, record)
        board.push(chess.Move.null())
        expected = facts(set_up(after, board).stack[0])
        assert facts(record.stack[1]) == expected
        assert record.stack[1].plies_from_null == 0
    assert tried > 5
