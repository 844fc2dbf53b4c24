"""How long to think, and what the way to the server costs."""

import chess
import pytest

from knightadder.lichess.game_state import GameInfo, GameState
from knightadder.lichess.timing import Lag, limit_of


def info(colour=chess.WHITE, speed="blitz"):
    return GameInfo(colour, "standard", speed, "Rival", chess.Board())


def state(plies=10, clocks=(60.0, 50.0), increments=(1.0, 2.0)):
    return GameState(("a2a3",) * plies, clocks, increments, "started", None, frozenset(), frozenset())


def test_the_estimate_is_that_of_rfc_6298():
    lag = Lag(0)
    samples = [0.1, 0.3, 0.12, 0.08, 0.5]
    for sample in samples:
        lag.note(sample)
    mean, deviation = samples[0], samples[0] / 2
    for sample in samples[1:]:  # RTTVAR with the SRTT from before, beta = 1/4; alpha = 1/8; RTO = SRTT + 4 RTTVAR
        deviation = 3 / 4 * deviation + 1 / 4 * abs(mean - sample)
        mean = 7 / 8 * mean + 1 / 8 * sample
    assert lag.overhead_ms() == round((mean + 4 * deviation) * 1000)


def test_the_overhead_has_a_least_and_a_most():
    lag = Lag(80)
    assert lag.overhead_ms() == 80
    lag.note(0.001)
    assert lag.overhead_ms() == 80
    lag.note(100)
    assert lag.overhead_ms() == 5000


@pytest.mark.parametrize("colour", chess.COLORS)
def test_what_passed_since_the_news_came_is_gone_from_the_own_clock(colour):
    limit = limit_of(info(colour), state(), 0.5, 30, None)
    assert (limit.white_clock, limit.black_clock) == ((59.5, 50.0) if colour == chess.WHITE else (60.0, 49.5))
    assert (limit.white_inc, limit.black_inc, limit.time) == (1.0, 2.0, None)


def test_a_clock_never_runs_below_nothing():
    assert 0 < limit_of(info(), state(clocks=(0.2, 50.0)), 5.0, 30, None).white_clock < 0.1


@pytest.mark.parametrize(("clock", "seconds"), [(60.0, 3.0), (10_800.0, 5.0)])
def test_the_first_move_is_made_while_the_clocks_stand(clock, seconds):
    limit = limit_of(info(chess.BLACK), state(1, (1.0, clock)), 2.0, 30, 500)
    assert (limit.time, limit.white_clock, limit.nodes) == (seconds, None, 500)


def test_days_are_not_spent_on_a_move():
    limit = limit_of(info(speed="correspondence"), state(10, (259_200.0, 259_200.0)), 0.0, 30, None)
    assert (limit.time, limit.white_clock) == (30, None)


@pytest.mark.parametrize("colour", chess.COLORS)
def test_a_correspondence_game_is_not_lost_on_time_in_its_last_seconds(colour):
    clocks = (16.0, 86_400.0) if colour == chess.WHITE else (86_400.0, 16.0)
    limit = limit_of(info(colour, "correspondence"), state(10, clocks), 2.0, 30, None)
    assert limit.time == 7
