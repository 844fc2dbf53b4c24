"""The chess clock, with a time that the test sets."""

import chess
import chess.pgn
import pytest

from knightadder.web.clock import ChessClock


class Time:
    def __init__(self):
        self.seconds = 100.0

    def __call__(self):
        return self.seconds


@pytest.fixture
def time():
    return Time()


@pytest.fixture
def clock(time):
    return ChessClock(60, 2, time)


def test_only_the_side_to_move_loses_time(clock, time):
    clock.start(chess.WHITE)
    time.seconds += 10
    assert clock.remaining(chess.WHITE) == 50 and clock.remaining(chess.BLACK) == 60
    assert clock.press() == 10
    time.seconds += 5
    assert clock.remaining(chess.WHITE) == 52 and clock.remaining(chess.BLACK) == 55


def test_a_side_whose_clock_starts_stops_the_other(clock, time):
    clock.start(chess.WHITE)
    time.seconds += 3
    clock.start(chess.BLACK)
    time.seconds += 5
    assert clock.remaining(chess.WHITE) == 57 and clock.remaining(chess.BLACK) == 55


def test_a_clock_that_stands_loses_nothing(clock, time):
    time.seconds += 10
    assert clock.press() == 0
    assert clock.remaining(chess.WHITE) == 60 and clock.running is None
    clock.start(chess.BLACK)
    time.seconds += 1
    clock.stop()
    time.seconds += 10
    assert clock.remaining(chess.BLACK) == 59


def test_there_is_no_time_below_zero(clock, time):
    clock.start(chess.WHITE)
    time.seconds += 100
    assert clock.remaining(chess.WHITE) == 0


def test_a_clock_is_put_right(clock, time):
    clock.start(chess.WHITE)
    time.seconds += 10
    clock.set(chess.WHITE, 42)
    time.seconds += 2
    assert clock.remaining(chess.WHITE) == 40


def test_it_is_written_as_in_pgn():
    assert str(ChessClock(300, 0)) == "300+0" and str(ChessClock(60, 0.5)) == "60+0.5"


def test_pgn_has_no_minute_of_sixty_seconds(time):
    clock, move = ChessClock(60, 0, time), chess.pgn.Game()
    clock.start(chess.WHITE)
    time.seconds += 0.0003
    clock.press()
    move.set_clock(clock.remaining(chess.WHITE))
    time.seconds += 59.9998
    move.set_emt(clock.press())
    assert move.comment == "[%clk 0:01:00] [%emt 0:01:00]"
