"""Castling as XBoard writes it; python-chess is the judge."""

import random

import chess
import pytest

from knightadder.protocols.castling import looks_like_move, read_move, write_moves

ALL_CASTLING = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"


def legal_moves(board: chess.Board) -> list[str]:
    return [board.uci(move) for move in board.legal_moves]


def random_game(board: chess.Board, seed: int) -> list[str]:
    """Play at random, but castle where that is possible; give the moves in UCI notation."""
    chance = random.Random(seed)
    moves = []
    while len(moves) < 80 and not board.is_game_over():
        castling = list(board.generate_castling_moves())
        move = chance.choice(castling or list(board.legal_moves))
        moves.append(board.uci(move))
        board.push(move)
    return moves


@pytest.mark.parametrize("number", [0, 42, 331, 518, 692, 959])
def test_every_move_of_a_chess960_game_is_written_and_read_as_python_chess_does(number: int) -> None:
    board = chess.Board.from_chess960_pos(number)
    moves = random_game(board.copy(), number)
    written = write_moves(moves, board.fen().split()[0])
    for move, text in zip(moves, written, strict=True):
        assert text == board.xboard(chess.Move.from_uci(move))
        assert read_move(text, legal_moves(board), board.fen().split()[0]) == move
        board.push_uci(move)


def test_a_rook_that_castling_leaves_where_it_is_moves_on_as_a_rook() -> None:
    assert write_moves(["e1f1", "e8e7", "f1a1"], "4k3/8/8/8/8/8/8/4KR2") == ["O-O", "e8e7", "f1a1"]


def test_a_king_that_takes_where_its_rook_was_taken_does_not_castle() -> None:
    assert write_moves(["b7h1", "g1h1"], "4k3/1b6/8/8/8/8/8/6KR") == ["b7h1", "g1h1"]


@pytest.mark.parametrize("chess960", [False, True])
@pytest.mark.parametrize("turn", [chess.WHITE, chess.BLACK])
def test_castling_is_understood_in_every_notation(chess960: bool, turn: bool) -> None:
    board = chess.Board(ALL_CASTLING, chess960=chess960)
    board.turn = turn
    rank = "1" if turn else "8"
    short, long = (f"e{rank}{file}{rank}" for file in ("ha" if chess960 else "gc"))
    for texts, wanted in (
        (["O-O", "o-o", "0-0", f"e{rank}g{rank}", f"e{rank}h{rank}"], short),
        (["O-O-O", "o-o-o", "0-0-0", f"e{rank}c{rank}", f"e{rank}a{rank}"], long),
    ):
        for text in texts:
            assert read_move(text, legal_moves(board), board.fen().split()[0]) == wanted


def test_what_is_also_a_plain_move_of_the_king_is_that_move() -> None:
    board = chess.Board("4k3/8/8/8/8/8/8/5K1R w H - 0 1", chess960=True)
    placement = board.fen().split()[0]
    assert read_move("f1g1", legal_moves(board), placement) == "f1g1"
    assert read_move("O-O", legal_moves(board), placement) == "f1h1"


@pytest.mark.parametrize("text", ["O-O", "O-O-O", "e1g1", "e1h1", "e1a1", "e2e5", "", "e2", "castle", "e1e1"])
def test_what_is_not_legal_is_no_move(text: str) -> None:
    board = chess.Board()
    assert read_move(text, legal_moves(board), board.fen().split()[0]) is None


@pytest.mark.parametrize("text", ["e7e8q", "e7e8Q", "e7e8=Q", "E7E8q"])
def test_promotions_are_understood_in_every_notation(text: str) -> None:
    board = chess.Board("8/4P1k1/8/8/8/8/8/4K3 w - - 0 1")
    assert read_move(text, legal_moves(board), board.fen().split()[0]) == "e7e8q"
    assert read_move("e7e8", legal_moves(board), board.fen().split()[0]) is None


def test_moves_are_recognised_by_their_form() -> None:
    assert all(looks_like_move(text) for text in ("e2e4", "a7a8q", "A7A8=Q", "O-O", "0-0-0", "e2e5"))
    assert not any(looks_like_move(text) for text in ("e2", "e2e9", "i2i4", "edit", "a7a8k", "O-O-O-O", "e2e4e5"))
