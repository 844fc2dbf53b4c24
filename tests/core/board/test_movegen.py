"""Legality of foreign moves, all 65,536 of them, and the stages of move generation."""

from __future__ import annotations

import random

import chess
import numpy as np
import pytest
from compiling import compiled
from core_helpers import TABLES, encode, is_noisy, new_game, random_positions, set_up

from knightadder.core.board.movegen import ALL, NOISY, QUIET, count_moves, generate, is_legal, is_pseudo_legal
from knightadder.native.program import INTERPRETED

pytestmark = [pytest.mark.boundscheck, pytest.mark.nojit]

POSITIONS = 3 if INTERPRETED else 40

# One rule each; random games seldom come by them.
SPECIAL = [
    "8/8/8/8/k2Pp2Q/8/8/3K4 b - d3 0 1",  # en passant would bare the king
    "4k3/8/4r3/3pP3/8/8/8/4K3 w - d6 0 2",  # ... on a file
    "8/8/8/2k5/3Pp3/8/8/4K3 b - d3 0 1",  # en passant captures the checking pawn
    "4k3/8/8/2PpP3/8/8/8/4K3 w - d6 0 2",
    "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",
    "r3k2r/8/8/4r3/8/8/8/R3K2R w KQkq - 0 1",
    "4k3/8/8/8/8/5r2/8/R3K2R w KQ - 0 1",
    "4k3/8/8/8/8/8/8/qRK5 w B - 0 1",  # the rook shields the king from its back rank
    "4k3/8/8/8/8/8/8/5KR1 w G - 0 1",
    "4k3/8/8/8/8/8/8/RK6 w A - 0 1",
    "4k3/8/8/8/8/8/8/1K5R w H - 0 1",
    "1r1r3k/2P5/8/8/8/8/8/K7 w - - 0 1",
    "k7/8/8/8/8/8/3p4/2R1R2K b - - 0 1",
    "4r2k/8/8/8/8/5n2/3P1PP1/3QK3 w - - 0 1",  # double check
    "4k3/8/8/8/1b6/8/3B4/4K3 w - - 0 1",
    "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1",
    "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1",
]


@compiled
def judge(tables, worker, moves, pseudo_legal, legal):
    for i in range(len(moves)):
        pseudo_legal[i] = is_pseudo_legal(tables, worker.stack[0], moves[i])
        legal[i] = is_legal(tables, worker.stack[0], moves[i])


@compiled
def count(tables, worker):
    return count_moves(tables, worker.stack[0])


@compiled
def generate_stage(tables, worker, stage):
    return generate(tables, worker.stack[0], worker.frames[0], np.int64(0), stage)


def staged(record: np.record, stage: np.int64) -> list[int]:
    """Generate the moves of a stage."""
    count = generate_stage(TABLES, record, stage)
    return [int(move) for move in record.frames[0].moves[:count]]


def special() -> list[chess.Board]:
    return [chess.Board(fen, chess960=True) for fen in SPECIAL]


@pytest.mark.parametrize(
    "boards",
    [
        pytest.param(special(), id="special"),
        pytest.param(random_positions(POSITIONS), id="standard"),
        pytest.param(random_positions(POSITIONS, chess960=True), id="chess960"),
    ],
)
def test_every_16_bit_move_is_judged(boards: list[chess.Board]) -> None:
    game = new_game()
    for board in boards:
        assert board.is_valid()
        # The engine keeps an en passant square only where a capture is legal.
        board = chess.Board(board.fen(en_passant="legal"), chess960=True)
        record = set_up(game, board)
        pseudo_legal = {encode(board, move) for move in board.generate_pseudo_legal_moves()}
        legal = {encode(board, move) for move in board.legal_moves}
        moves = np.arange(1 << 16)
        if INTERPRETED:
            sample = random.Random(board.fen()).sample(range(1 << 16), 200)
            moves = np.array([*pseudo_legal, *sample], np.int64)
        judged_pseudo_legal, judged_legal = np.zeros(len(moves), np.bool_), np.zeros(len(moves), np.bool_)
        judge(TABLES, record, moves, judged_pseudo_legal, judged_legal)
        chosen = {int(move) for move in moves}
        assert {int(move) for move in moves[judged_pseudo_legal]} == pseudo_legal & chosen, board.fen()
        assert {int(move) for move in moves[judged_legal]} == legal & chosen, board.fen()


@pytest.mark.parametrize("chess960", [False, True])
def test_stages_divide_the_moves(chess960: bool) -> None:
    game = new_game()
    boards = random_positions(20 if INTERPRETED else 300, chess960) + special()
    checks = 0
    for board in boards:
        record = set_up(game, board)
        noisy = [encode(board, move) for move in board.legal_moves if is_noisy(board, move)]
        quiet = [encode(board, move) for move in board.legal_moves if not is_noisy(board, move)]
        assert sorted(staged(record, NOISY)) == sorted(noisy), board.fen()
        assert sorted(staged(record, QUIET)) == sorted(quiet), board.fen()
        assert sorted(staged(record, ALL)) == sorted(noisy + quiet), board.fen()
        assert count(TABLES, record) == len(noisy + quiet), board.fen()
        checks += board.is_check()
    assert checks >= 3
