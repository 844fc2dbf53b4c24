"""Boards, moves and limits on their way from python-chess to the engine."""

import random

import chess
import chess.variant
import pytest
from chess.engine import Limit

from knightadder.engine.errors import PositionError
from knightadder.engine.limits import Limits
from knightadder.library.boards import limits_of, position_of


def random_game(seed: int, chess960: bool) -> chess.Board:
    """Play random moves, half of them back to where the piece came from, so that positions repeat."""
    chance = random.Random(seed)
    board = chess.Board.from_chess960_pos(chance.randrange(960)) if chess960 else chess.Board()
    for _ in range(chance.randrange(120)):
        moves = list(board.legal_moves)
        if not moves:
            break
        last = board.move_stack[-2] if len(board.move_stack) > 1 else chess.Move.null()
        back = chess.Move(last.to_square, last.from_square)
        board.push(back if back in moves and chance.random() < 0.5 else chance.choice(moves))
    return board


def rebuilt(board: chess.Board) -> chess.Board:
    fen, moves = position_of(board)
    other = chess.Board(fen, chess960=board.chess960)
    for name in moves:
        other.push_uci(name)
    return other


@pytest.mark.parametrize("chess960", [False, True])
def test_position_of_gives_the_same_position_with_the_history_that_counts(chess960: bool) -> None:
    repetitions = 0
    for seed in range(150):
        board = random_game(seed, chess960)
        other = rebuilt(board)
        assert other.fen() == board.fen()
        for count in (2, 3, 4, 5):
            assert other.is_repetition(count) == board.is_repetition(count)
            repetitions += board.is_repetition(count)
    assert repetitions > 10  # or this says nothing about them


def test_position_of_keeps_no_more_moves_than_since_the_last_pawn_move() -> None:
    board = chess.Board()
    for san in ["e4", "e5", "Nf3", "Nc6", "Bb5"]:
        board.push_san(san)
    fen, moves = position_of(board)
    assert moves == ("g1f3", "b8c6", "f1b5")
    assert fen == "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2"
    assert board.move_stack  # the caller's board is as it was


def test_position_of_begins_after_a_null_move() -> None:
    board = chess.Board()
    board.push_san("Nf3")
    board.push(chess.Move.null())
    board.push_san("Ng1")
    assert position_of(board)[1] == ("f3g1",)


def test_position_of_refuses_variants() -> None:
    with pytest.raises(PositionError, match="atomic is not played here"):
        position_of(chess.variant.AtomicBoard())


def test_limits_of_translates_seconds_into_milliseconds() -> None:
    limit = Limit(
        time=1.5,
        depth=7,
        nodes=900,
        mate=3,
        white_clock=60,
        black_clock=0.25,
        white_inc=1,
        black_inc=0.1,
        remaining_moves=9,
    )
    assert limits_of(chess.Board(), limit) == Limits(
        wtime=60_000, btime=250, winc=1000, binc=100, movestogo=9, depth=7, nodes=900, mate=3, movetime=1500
    )


def test_limits_of_gives_a_time_of_nothing_its_shortest() -> None:
    assert limits_of(chess.Board(), Limit(time=0)).movetime == 1


def test_limits_of_without_a_limit_goes_on_until_stopped() -> None:
    assert limits_of(chess.Board(), None).unlimited


@pytest.mark.parametrize("limit", [Limit(), Limit(white_inc=1.0), Limit(remaining_moves=3)])
def test_limits_of_refuses_a_limit_that_never_comes(limit: Limit) -> None:
    with pytest.raises(ValueError, match="a limit has to set"):
        limits_of(chess.Board(), limit)


@pytest.mark.parametrize("limit", [Limit(depth=0), Limit(nodes=0), Limit(mate=-1)])
def test_limits_of_refuses_what_is_not_positive(limit: Limit) -> None:
    with pytest.raises(ValueError, match="is at least 1"):
        limits_of(chess.Board(), limit)


def test_limits_of_names_root_moves_as_the_board_does() -> None:
    board = chess.Board("4k3/8/8/8/8/8/8/4K2R w K - 0 1")
    castling = board.parse_san("O-O")
    assert limits_of(board, Limit(depth=1), [castling]).searchmoves == ("e1g1",)


def test_limits_of_refuses_illegal_root_moves_and_none_at_all() -> None:
    with pytest.raises(PositionError, match="illegal move: e2e5"):
        limits_of(chess.Board(), Limit(depth=1), [chess.Move.from_uci("e2e5")])
    with pytest.raises(PositionError, match="no root move"):
        limits_of(chess.Board(), Limit(depth=1), [])
