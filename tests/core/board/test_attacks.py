"""Attack tables and the attacks of sliders, against python-chess."""

from __future__ import annotations

import random

import chess
import numpy as np
import pytest
from compiling import compiled
from core_helpers import TABLES, encode, is_noisy, new_game, random_positions

from knightadder.core.board import attacks
from knightadder.native.program import INTERPRETED

pytestmark = [pytest.mark.boundscheck, pytest.mark.nojit]


@compiled
def sliders(tables, square, occupied):
    return attacks.rook_attacks(tables, square, occupied), attacks.bishop_attacks(tables, square, occupied)


@compiled
def attackers(tables, pos, square):
    occupied = pos.by_type[0]
    white = attacks.is_attacked(tables, pos, square, occupied, np.int64(0))
    black = attacks.is_attacked(tables, pos, square, occupied, np.int64(1))
    return attacks.attackers_to(tables, pos, square, occupied), white, black


@compiled
def attacked_by_both(tables, pos):
    return attacks.attacked_by(tables, pos, np.int64(0)), attacks.attacked_by(tables, pos, np.int64(1))


@compiled
def gives_check(tables, pos, squares, move):
    attacks.set_check_squares(tables, pos, squares)
    return attacks.gives_direct_check(pos, squares, move)


def test_leapers() -> None:
    assert [int(a) for a in TABLES.knight] == chess.BB_KNIGHT_ATTACKS
    assert [int(a) for a in TABLES.king] == chess.BB_KING_ATTACKS
    assert [int(a) for a in TABLES.pawn[0]] == chess.BB_PAWN_ATTACKS[chess.WHITE]
    assert [int(a) for a in TABLES.pawn[1]] == chess.BB_PAWN_ATTACKS[chess.BLACK]


def test_lines_between_squares() -> None:
    for a in chess.SQUARES:
        for b in chess.SQUARES:
            assert TABLES.between[a][b] == chess.between(a, b)
            assert TABLES.line[a][b] == chess.ray(a, b)


def test_sliders_on_random_boards() -> None:
    generator = random.Random(1)
    for number in range(1000):
        square = number % 64
        occupied = generator.getrandbits(64) & generator.getrandbits(64)
        rook, bishop = sliders(TABLES, np.int64(square), np.uint64(occupied))
        board = chess.Board(None)
        board.occupied = occupied
        board.rooks, board.bishops = chess.BB_SQUARES[square], 0
        assert int(rook) == board.attacks_mask(square)
        board.rooks, board.bishops = 0, chess.BB_SQUARES[square]
        assert int(bishop) == board.attacks_mask(square)


def test_attackers_of_every_square() -> None:
    for board in random_positions(30):
        position = new_game(board).record.stack[0]
        for square in chess.SQUARES:
            white, black = (board.attackers_mask(color, square) for color in (chess.WHITE, chess.BLACK))
            found, by_white, by_black = attackers(TABLES, position, np.int64(square))
            assert int(found) == white | black
            assert (by_white, by_black) == (white != 0, black != 0)


def test_all_that_a_side_attacks() -> None:
    for board in random_positions(30 if INTERPRETED else 300):
        found = attacked_by_both(TABLES, new_game(board).record.stack[0])
        for color, squares in zip((chess.WHITE, chess.BLACK), found, strict=True):
            assert int(squares) == sum(1 << square for square in chess.SQUARES if board.is_attacked_by(color, square))


def test_direct_checks_of_quiet_moves() -> None:
    seen, squares = {False: 0, True: 0}, np.zeros(8, np.uint64)
    for board in random_positions(10 if INTERPRETED else 200):
        position = new_game(board).record.stack[0]
        for move in board.legal_moves:
            if is_noisy(board, move) or board.is_castling(move):
                continue
            after = board.copy(stack=False)
            after.push(move)
            expected = bool(after.checkers_mask() & chess.BB_SQUARES[move.to_square])
            found = gives_check(TABLES, position, squares, np.int64(encode(board, move)))
            assert bool(found) == expected, (board.fen(), move)
            seen[expected] += 1
    assert min(seen.values()) > 5, seen
