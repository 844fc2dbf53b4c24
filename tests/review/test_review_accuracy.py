"""Accuracy and centipawn loss, judged by what Lichess publishes: formulas, and what its own tests expect."""

import math

import numpy
import pytest
from chess.engine import Cp, Mate, MateGiven

from knightadder.review.accuracy import CEILING, move_accuracy, rescale, side_accuracies, win_percent


def of(cps, white_first=True):
    """Give the accuracies of White and Black, in a game that begins with 15 centipawns, as Lichess counts."""
    return [side and side.accuracy for side in side_accuracies([Cp(15), *map(Cp, cps)], white_first)]


@pytest.mark.parametrize("cp", [-1000, -1, 777])
def test_win_percent_is_as_published(cp):
    assert win_percent(Cp(cp)) == pytest.approx(50 + 50 * (2 / (1 + math.exp(-0.00368208 * cp)) - 1))
    assert win_percent(Cp(cp)) + win_percent(Cp(-cp)) == pytest.approx(100)


def test_mates_and_great_advantages_count_as_ten_pawns():
    assert win_percent(Mate(3)) == win_percent(Cp(1500)) == win_percent(MateGiven) == win_percent(Cp(1000))
    assert win_percent(Mate(-3)) == win_percent(Mate(0)) == win_percent(Cp(-1000))


@pytest.mark.parametrize("loss", [0.5, 5, 20, 60])
def test_move_accuracy_is_as_published_and_a_little_more(loss):
    published = 103.1668 * math.exp(-0.04354 * loss) - 3.1669
    assert move_accuracy(70, 70 - loss) == pytest.approx(min(100, published + 1), abs=5e-3)


def test_no_move_is_better_than_perfect_or_worse_than_useless():
    assert move_accuracy(40, 60) == move_accuracy(40, 40) == 100
    assert move_accuracy(100, 0) == 0


# From `AccuracyPercentTest.scala` of lichess-org/lila: the evaluations after each move, what is expected of White and
# of Black, and how closely.
@pytest.mark.parametrize(
    ("cps", "white", "black"),
    [
        ([15, 15], (100, 1), (100, 1)),
        ([-900, -900], (10, 5), (100, 1)),
        ([15, 900], (100, 1), (10, 5)),
        ([-900, 0], (10, 5), (10, 5)),
        ([15] * 20, (100, 1), (100, 1)),
        ([15] * 20 + [-900], (50, 5), (100, 1)),
        ([15] * 21 + [900], (100, 1), (50, 5)),
        ([-50, 15] * 5, (76, 8), (76, 8)),
        ([-50, 15] * 50, (76, 8), (76, 8)),
        ([-135, 15] * 50, (54, 8), (54, 8)),
        ([-435, 15] * 50, (20, 8), (20, 8)),
    ],
)
def test_the_games_of_lichess(cps, white, black):
    found = of(cps)
    assert found[0] == pytest.approx(white[0], abs=white[1])
    assert found[1] == pytest.approx(black[0], abs=black[1])


@pytest.mark.parametrize(
    ("cps", "white", "black"),
    [
        ([15, 15], (100, 1), (100, 1)),
        ([900, 900], (100, 1), (10, 5)),
        ([15, -900], (10, 5), (100, 1)),
        ([900, 0], (10, 5), (10, 5)),
    ],
)
def test_the_games_of_lichess_in_which_black_begins(cps, white, black):
    found = of(cps, white_first=False)
    assert found[0] == pytest.approx(white[0], abs=white[1])
    assert found[1] == pytest.approx(black[0], abs=black[1])


def test_the_colours_are_treated_alike():
    cps = [30, -20, -300, -150, 80, 75, 60, -90, -500, -600, -580, 20, 10]
    white = side_accuracies([Cp(cp) for cp in cps])
    black = side_accuracies([Cp(-cp) for cp in cps], white_first=False)
    assert (white[0].accuracy, white[1].accuracy) == pytest.approx((black[1].accuracy, black[0].accuracy))
    assert (white[0].centipawn_loss, white[1].centipawn_loss) == (black[1].centipawn_loss, black[0].centipawn_loss)


def test_a_side_without_moves_has_no_accuracy():
    assert side_accuracies([Cp(15)]) == (None, None)
    assert of([15])[1] is None
    assert of([15], white_first=False)[0] is None


@pytest.mark.parametrize("moves", [9, 40, 130])
def test_the_weights_are_the_deviations_of_sliding_windows(moves):
    cps = [round(400 * math.sin(n * n / 7)) for n in range(moves + 1)]
    wins = [win_percent(Cp(cp)) for cp in cps]
    size = min(max(moves // 10, 2), 8)
    windows = [wins[:size]] * (size - 2) + [wins[at : at + size] for at in range(len(wins) - size + 1)]
    weights = [min(max(float(numpy.std(window)), 0.5), 12) for window in windows]
    assert len(weights) == moves
    losses = [(-1) ** n * (wins[n] - wins[n + 1]) for n in range(moves)]
    for side, accuracy in enumerate(side.accuracy for side in side_accuracies([Cp(cp) for cp in cps])):
        values = numpy.array([move_accuracy(loss, 0) for loss in losses[side::2]])
        harmonic = 1 / numpy.mean(1 / numpy.maximum(values, 1))
        assert accuracy == pytest.approx((numpy.average(values, weights=weights[side::2]) + harmonic) / 2)


def test_a_mistake_in_a_quiet_game_weighs_less_than_in_a_wild_one():
    """The same two losses of White's, once with nothing else going on and once beside what Black loses."""
    quiet = of([15, 15, -50, -50, -115, -115] + [-115] * 20)
    wild = of([15, 15, -50, 400, 300, -200, -300] + [-300] * 19)
    assert quiet[0] > wild[0]


def test_centipawn_loss():
    # White loses 20, then gains; Black loses 5, then a mate's worth of what is left to the ceiling.
    white, black = side_accuracies([Cp(20), Cp(0), Cp(5), Cp(45), Mate(4)])
    assert (white.centipawn_loss, black.centipawn_loss) == (10, round((5 + 955) / 2))
    # Beyond the ceiling nothing is lost.
    assert side_accuracies([Cp(4000), Cp(1200)])[0].centipawn_loss == 0
    assert side_accuracies([Mate(2), Cp(900)])[0].centipawn_loss == 100
    assert side_accuracies([Cp(0), Cp(-1), Cp(-1), Cp(-1)])[0].centipawn_loss == 1  # a half is rounded up


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [(76, 115), (152, 226), (251, 331), (365, 439), (574, 576), (813, 582), (1188, 660), (2138, 1000)],
)
def test_scores_are_converted_to_those_of_stockfish(ours, theirs):
    # The medians of both engines' scores in positions of games.
    assert rescale(Cp(ours)).score() == pytest.approx(theirs, rel=0.15)
    assert rescale(Cp(-ours)) == -rescale(Cp(ours))


def test_the_scale_keeps_the_order_and_the_mates():
    converted = [rescale(Cp(cp)) for cp in range(-3000, 3001)]
    assert converted == sorted(converted)
    assert converted[3000] == Cp(0)
    assert converted[-1] == rescale(Cp(20_000)) == Cp(CEILING)
    mates = [Mate(3), Mate(-2), Mate(0), MateGiven]
    assert [*map(rescale, mates)] == mates
