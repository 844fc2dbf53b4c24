"""Ends of games, and clocks of moves taken back."""

import chess
import chess.pgn
import pytest

from knightadder.web.clock import ChessClock
from knightadder.web.played_game import PlayedGame


@pytest.mark.parametrize(
    ("fen", "result", "reason"),
    [
        ("R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 1", "1-0", "Checkmate"),
        ("6k1/8/8/8/8/8/5PPP/r5K1 w - - 0 1", "0-1", "Checkmate"),
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "1/2-1/2", "Stalemate"),
        ("7k/8/6K1/8/8/8/8/6N1 b - - 0 1", "1/2-1/2", "Neither side can mate"),
        ("7k/8/6K1/8/8/8/8/6R1 b - - 100 99", "1/2-1/2", "Fifty moves without a capture or a pawn move"),
        (chess.STARTING_FEN, "*", ""),
    ],
)
def test_the_rules_end_a_game(fen, result, reason):
    game = PlayedGame(chess.WHITE, None, None, 1.0, 0)
    game.settle(chess.Board(fen))
    assert (game.result, game.reason) == (result, reason)


class _Time:
    seconds = 0.0

    def __call__(self):
        return self.seconds


@pytest.mark.parametrize(
    ("fen", "result"),
    [(chess.STARTING_FEN, "0-1"), ("7k/8/8/8/8/8/8/6RK w - - 0 1", "1/2-1/2")],  # a bare king cannot win on time
)
def test_time_runs_out(fen, result):
    time = _Time()
    game = PlayedGame(chess.WHITE, None, ChessClock(60, 0, time), 1.0, 0)
    board = chess.Board(fen)
    game.clock.start(chess.WHITE)
    time.seconds = 59
    assert not game.out_of_time(board) and game.running
    time.seconds = 60
    assert game.out_of_time(board) and game.result == result and game.clock.running is None


def test_clocks_go_back_with_the_moves():
    game = PlayedGame(chess.WHITE, None, ChessClock(60, 0), 1.0, start_ply=2)
    node = chess.pgn.Game()
    for move, clock in (("e2e4", 11), ("e7e5", 12), ("g1f3", 50), ("b8c6", 55), ("f1c4", 40)):
        node = node.add_variation(chess.Move.from_uci(move))
        node.set_clock(clock)
    game.resume_from(node.parent)
    assert (game.clock.remaining(chess.WHITE), game.clock.remaining(chess.BLACK)) == (50, 55)
    game.resume_from(node.parent.parent.parent)  # before the game: those clocks are of another
    assert (game.clock.remaining(chess.WHITE), game.clock.remaining(chess.BLACK)) == (60, 60)


def test_a_clock_goes_back_to_zero():
    game = PlayedGame(chess.WHITE, None, ChessClock(60, 0), 1.0, 0)
    node = chess.pgn.Game().add_variation(chess.Move.from_uci("e2e4"))
    node.set_clock(0)
    game.resume_from(node)
    assert (game.clock.remaining(chess.WHITE), game.clock.remaining(chess.BLACK)) == (0, 60)


def test_the_engine_is_given_the_clocks_or_a_time():
    clocked = PlayedGame(chess.WHITE, None, ChessClock(60, 2), 1.0, 0).limit()
    assert (clocked.white_clock, clocked.black_inc, clocked.time) == (60, 2, None)
    assert PlayedGame(chess.WHITE, None, None, 1.5, 0).limit().time == 1.5


@pytest.mark.parametrize(
    ("fen", "user", "accepts"),
    [
        ("4k3/8/8/8/8/8/8/3QK3 w - - 0 1", chess.WHITE, True),  # the engine has a bare king
        ("4k3/8/8/8/8/8/8/3QK1N1 b - - 0 1", chess.WHITE, True),
        ("4k3/4p3/8/8/8/8/8/3QK3 w - - 0 1", chess.WHITE, False),  # its pawn may become a queen
        ("4k3/8/8/8/8/8/8/3QK3 w - - 0 1", chess.BLACK, False),
        (chess.STARTING_FEN, chess.WHITE, False),
    ],
)
def test_an_engine_that_cannot_win_accepts_a_draw(fen, user, accepts):
    assert PlayedGame(user, None, None, 1.0, 0).accepts_draw(chess.Board(fen)) is accepts


def _pauses(board, move, **settings):
    game = PlayedGame(chess.WHITE, settings.pop("elo", 900), settings.pop("clock", None), 1.0, 0, **settings)
    return [game.pause(board, move) for _ in range(200)]


def test_a_weakened_engine_takes_its_time_if_it_is_asked_to():
    board = chess.Board("rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2")
    board.push_san("exd5")
    quiet, recapture = board.parse_san("Nf6"), board.parse_san("Qxd5")
    assert set(_pauses(board, quiet) + _pauses(board, quiet, elo=None, pace=True)) == {0.0}
    pauses = _pauses(board, quiet, pace=True)
    assert 0 < min(pauses) < max(pauses) <= 8
    assert sum(_pauses(board, recapture, pace=True)) < sum(pauses)
    assert max(_pauses(board, quiet, pace=True, clock=ChessClock(10, 0))) <= 0.2
