"""Moves that a weakened player overlooks: how often, over many seeds."""

from __future__ import annotations

from itertools import pairwise

import chess
import numpy as np
import pytest
from compiling import compiled
from core_helpers import TABLES, encode, new_game

from knightadder.core.board.moves import NO_MOVE
from knightadder.core.search import oversight

pytestmark = [pytest.mark.boundscheck, pytest.mark.nojit]

SEEDS = 1000
ROOKS, QUEEN, KNIGHTS = "4k3/8/8/8/8/R6R/8/4K3 w - - 0 1", "4k3/8/q7/8/8/8/8/Q3K3 w - - 0 1", "4k3/8/8/5N2/5n2/8/8/4K3"


@compiled
def count_overlooked(tables, worker, move, last_move, seeds):
    count = 0
    for seed in range(seeds):
        worker.weak_seed = np.uint64(seed)
        count += oversight.overlooks(tables, worker, worker.stack[0], move, last_move)
    return count


def share(fen: str, move: str, last_move: int = NO_MOVE) -> float:
    """Return the share of seeds that overlook a move."""
    board = chess.Board(fen)
    worker = new_game(board).record
    worker.oversight = 512
    number = np.int64(encode(board, chess.Move.from_uci(move)))
    return count_overlooked(TABLES, worker, number, np.int64(last_move), np.int64(SEEDS)) / SEEDS


@pytest.mark.parametrize(
    ("fen", "moves"),
    [
        (ROOKS, ("a3a5", "a3a8")),  # a long move
        (ROOKS, ("h3h5", "h3b3")),
        (QUEEN, ("a1a6", "a1c3", "a1f1", "a1h8")),  # a hanging queen, a short move, a long line, a long diagonal
        (f"{KNIGHTS} w - - 0 1", ("f5g7", "f5g3")),  # a retreat
        (f"{KNIGHTS} b - - 0 1", ("f4g2", "f4g6")),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", ("e5d6", "e5e6")),  # a capture en passant, a quiet move
    ],
)
def test_hidden_moves_are_overlooked_more_often(fen: str, moves: tuple[str, ...]) -> None:
    shares = [share(fen, move) for move in moves]
    assert all(hidden > seen + 0.1 for seen, hidden in pairwise(shares)), shares


def test_a_short_move_is_overlooked_as_often_on_each_file() -> None:
    assert share(ROOKS, "h3h5") == pytest.approx(share(ROOKS, "a3a5"), abs=0.1)


def test_castling_is_overlooked_as_often_as_a_step_of_the_king() -> None:
    fen = "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1"
    assert share(fen, "e1h1") == pytest.approx(share(fen, "e1f1"), abs=0.1)


def test_a_line_that_the_last_move_opened_is_overlooked_more_often() -> None:
    assert share(ROOKS, "a3c3", chess.B3) > share(ROOKS, "a3c3", chess.H2) + 0.1


def test_the_capture_of_the_piece_that_has_just_moved_is_never_overlooked() -> None:
    assert share(QUEEN, "a1a6", chess.B7 | chess.A6 << 6) == 0 < share(QUEEN, "a1a6")
