"""Elo from pentanomial counts: published values, and what little knowledge gives."""

import math

import numpy as np
import pytest

from knightadder.elo_formula import elo_of_score, score_of_elo
from knightadder.workshop.match.statistics import elo


@pytest.mark.parametrize(
    ("counts", "expected"),
    [((10, 40, 100, 60, 20), (30.288, 8.491, 52.326)), ((100, 900, 2000, 1000, 120), (5.904, 1.548, 10.261))],
)
def test_elo_is_what_fishtest_and_openbench_publish(counts, expected):
    found = elo.elo_interval(counts)
    assert (found.value, found.low, found.high) == pytest.approx(expected, abs=6e-4)


def test_pairs_are_counted_by_their_points():
    assert elo.pentanomial([0, 0.5, 0.5, 1, 1, 1, 1.5, 2, 2]) == (1, 2, 3, 1, 2)
    assert elo.pentanomial([]) == (0, 0, 0, 0, 0)


def test_moments_are_those_of_the_pairs_one_by_one():
    counts = (3, 1, 4, 1, 5)
    scores = np.repeat([0, 0.25, 0.5, 0.75, 1], counts)
    assert elo.moments(counts) == pytest.approx((scores.mean(), scores.var()))
    assert elo.moments((0,) * 5) == (0.5, 0.0)


@pytest.mark.parametrize("difference", [-400, -3, 0, 12.5, 800])
def test_score_and_elo_are_inverse(difference):
    assert elo_of_score(score_of_elo(difference)) == pytest.approx(difference)


def test_the_scale_of_elo():
    assert score_of_elo(400) == pytest.approx(10 / 11)
    assert [elo_of_score(score) for score in (0.0, 0.5, 1.0)] == [-math.inf, 0.0, math.inf]


@pytest.mark.parametrize(
    "counts", [(0, 0, 0, 0, 0), (0, 0, 1, 0, 0), (0, 0, 0, 0, 9), (7, 0, 0, 0, 0), (0, 0, 50, 0, 0)]
)
def test_without_a_spread_nothing_is_known(counts):
    found = elo.elo_interval(counts)
    assert (found.low, found.high) == (-math.inf, math.inf)
    assert not math.isnan(found.value)


def test_no_draws_at_all():
    found = elo.elo_interval((20, 0, 10, 0, 20))
    assert found.value == 0.0
    assert found.low == pytest.approx(-found.high)
    assert elo.likelihood_of_superiority((20, 0, 10, 0, 20)) == 0.5


def test_superiority_is_a_probability_that_the_signs_share():
    counts = (10, 40, 100, 60, 20)
    better = elo.likelihood_of_superiority(counts)
    assert better + elo.likelihood_of_superiority(counts[::-1]) == pytest.approx(1)
    # Student's distribution, drawn instead of computed.
    mean, variance = elo.moments(counts)
    draws = mean + math.sqrt(variance / sum(counts)) * np.random.default_rng(5).standard_t(sum(counts) - 1, 200_000)
    assert better == pytest.approx((draws > 0.5).mean(), abs=2e-3)


@pytest.mark.parametrize("wins", range(2, 8))
def test_superiority_is_certain_to_the_degree_that_the_interval_leaves_out_zero(wins):
    counts = (0, 0, 3, wins, 0)
    assert (elo.elo_interval(counts).low > 0) == (elo.likelihood_of_superiority(counts) > (1 + elo.CONFIDENCE) / 2)


@pytest.mark.parametrize(
    ("counts", "expected"), [((0,) * 5, 0.5), ((0, 0, 0, 0, 1), 0.5), ((0, 0, 0, 0, 9), 1.0), ((9, 0, 0, 0, 0), 0.0)]
)
def test_superiority_without_a_spread(counts, expected):
    assert elo.likelihood_of_superiority(counts) == expected


def test_normalized_elo_is_the_advantage_in_deviations_of_a_game():
    # Independent games: the pairs of a coin that wins 55 of 100 games.
    p = 0.55
    counts = tuple(1e6 * value for value in ((1 - p) ** 2, 0, 2 * p * (1 - p), 0, p**2))
    expected = (p - 0.5) / math.sqrt(p * (1 - p)) * 800 / math.log(10)
    assert elo.normalized_elo(counts) == pytest.approx(expected)
    assert [elo.normalized_elo(each) for each in ((0,) * 5, (0, 0, 3, 0, 0), (0, 0, 0, 3, 0))] == [0, 0, math.inf]
