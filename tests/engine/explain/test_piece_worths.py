"""The worth of each piece, and the board that shows it."""

from __future__ import annotations

import re

import chess

from knightadder.core.evaluation import pesto
from knightadder.core.evaluation.evaluate import CLASSICAL, PESTO
from knightadder.core.tables import new_tables
from knightadder.engine.explain.worths import piece_worths, worth_board
from knightadder.engine.game import Game

KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
PHASES = {"p": 0, "n": 1, "b": 1, "r": 2, "q": 4, "k": 0}
# Without the pawn e7, the side that is not to move would be in check.
SHIELD = "r2qk2r/ppp1p1pp/2n2n2/3p1b2/3P1B2/2N2N2/PPPQ2PP/R3RK2 w kq - 0 12"


def worths(fen: str, evaluation: int) -> dict[int, int]:
    game = Game(new_tables(evaluation))
    game.set_up(fen)
    found = piece_worths(game, game.evaluate() * (1 - 2 * game.side_to_move))
    assert game.fen() == fen  # the game has lost nothing
    return found


def pesto_value(board: chess.Board) -> float:
    """Compute PeSTO's value from its tables, from White's view."""
    middle = end = phase = 0
    for square, piece in board.piece_map().items():
        place = square ^ 56 if piece.color else square
        row, sign = piece.piece_type - 1, 1 if piece.color else -1
        middle += sign * (pesto.MIDDLE_GAME_VALUES[row + 1] + pesto.MIDDLE_GAME[row][place])
        end += sign * (pesto.END_GAME_VALUES[row + 1] + pesto.END_GAME[row][place])
        phase += PHASES[piece.symbol().lower()]
    phase = min(phase, 24)
    return (middle * phase + end * (24 - phase)) / 24


def test_pestos_worths_are_differences_of_sums_from_its_tables() -> None:
    for fen in (chess.STARTING_FEN, KIWIPETE, SHIELD, chess.Board(KIWIPETE).mirror().fen()):
        board = chess.Board(fen)
        found = worths(fen, PESTO)
        assert set(found) == set(chess.SquareSet(board.occupied & ~board.kings))
        for square, worth in found.items():
            rest = board.copy()
            rest.remove_piece_at(square)
            assert abs(worth - (pesto_value(board) - pesto_value(rest))) < 2, (fen, chess.square_name(square))


def test_a_piece_can_be_a_shield_of_the_side_that_is_not_to_move() -> None:
    board = chess.Board(SHIELD)
    board.remove_piece_at(chess.E7)
    assert board.was_into_check()
    assert worths(SHIELD, CLASSICAL)[chess.E7] < 0


def test_worths_have_no_side() -> None:
    for fen in (KIWIPETE, SHIELD):
        mirrored = worths(chess.Board(fen).mirror().fen(), CLASSICAL)
        assert {square ^ 56: -worth for square, worth in mirrored.items()} == worths(fen, CLASSICAL)


def test_the_last_piece_against_a_bare_king_is_worth_the_win() -> None:
    [(square, worth)] = worths("4k3/8/8/8/8/8/8/R3K3 w - - 0 1", CLASSICAL).items()
    assert square == chess.A1 and worth > 5_000


def test_the_board_has_a_letter_and_a_worth_for_each_piece() -> None:
    board = [0] * 64
    board[chess.E1], board[chess.E8], board[chess.A1], board[chess.H7], board[chess.D4] = 6, 14, 4, 9, 13
    lines = worth_board(board, {chess.A1: 512, chess.H7: -98, chess.D4: -5105}).splitlines()
    assert len(lines) == 1 + 8 * 3 + 1
    assert {len(line) for line in lines[1:]} == {65}
    assert set("".join(lines[1::3])) == {"+", "-"}
    cells = {
        (8 - row, column): (letter.strip(), worth.strip())
        for row in range(8)
        for column, (letter, worth) in enumerate(
            zip(*(re.split(r"\|", line)[1:-1] for line in lines[2 + 3 * row : 4 + 3 * row]), strict=True)
        )
    }
    assert {place: cell for place, cell in cells.items() if cell != ("", "")} == {
        (1, 0): ("R", "+5.12"),
        (1, 4): ("K", ""),
        (4, 3): ("q", "-51.05"),
        (7, 7): ("p", "-0.98"),
        (8, 4): ("k", ""),
    }
