"""Ratings of several engines, against other ways to compute them."""

import math

import numpy as np
import pytest

from knightadder.elo_formula import score_of_elo
from knightadder.workshop.match.statistics.elo import elo_interval
from knightadder.workshop.match.statistics.ratings import rate


def _by_name(ratings):
    return {rating.name: rating for rating in ratings}


def test_two_engines_get_the_pentanomial_interval():
    counts = (100, 900, 2000, 1000, 120)
    found = _by_name(rate(["A", "B"], {("A", "B"): counts}))
    interval = elo_interval(counts)
    assert found["A"].elo - found["B"].elo == pytest.approx(interval.value, rel=1e-3)
    # Each lies half the difference from the average, with half its error.
    assert 2 * found["A"].error == pytest.approx((interval.high - interval.low) / 2, rel=3e-3)


def test_results_without_noise_give_back_the_ratings_they_come_from():
    true = {"A": 120.0, "B": 15.0, "C": -40.0, "D": -95.0}
    results = {}
    for first in true:
        for second in true:
            if first < second:
                p = score_of_elo(true[first] - true[second])
                results[first, second] = tuple(1e5 * value for value in ((1 - p) ** 2, 0, 2 * p * (1 - p), 0, p**2))
    found = rate(list(true), results)
    assert [rating.name for rating in found] == ["A", "B", "C", "D"]
    assert [rating.elo for rating in found] == pytest.approx(list(true.values()), abs=0.05)


def test_the_likelihood_is_greatest_by_a_slow_search():
    results = {("A", "B"): (3, 5, 9, 4, 2), ("B", "C"): (1, 2, 9, 8, 6), ("C", "A"): (4, 4, 4, 4, 4)}
    found = _by_name(rate("ABC", results))

    def likelihood(ratings):
        total = 0.0
        for (first, second), counts in results.items():
            p = score_of_elo(ratings[first] - ratings[second])
            points = sum(count * index / 2 for index, count in enumerate(counts))
            total += points * math.log(p) + (2 * sum(counts) - points) * math.log(1 - p)
        return total

    best = {name: found[name].elo for name in "ABC"}
    for name in "ABC":
        for step in (-2, 2):
            assert likelihood({**best, name: best[name] + step}) < likelihood(best)


def test_the_error_is_the_spread_of_repeated_tournaments():
    random = np.random.default_rng(3)
    # The games of a pair depend on each other, and draws are frequent: a plain Bradley-Terry error would be too large.
    shares = {("A", "B"): (0.02, 0.2, 0.5, 0.23, 0.05), ("A", "C"): (0.03, 0.2, 0.5, 0.2, 0.07)}
    found = []
    for _ in range(300):
        results = {pairing: tuple(random.multinomial(200, share)) for pairing, share in shares.items()}
        found.append(_by_name(rate("ABC", results))["A"])
    spread = 1.96 * np.std([rating.elo for rating in found])
    assert np.mean([rating.error for rating in found]) == pytest.approx(spread, rel=0.15)


def test_an_engine_that_won_everything_is_rated_with_a_large_error():
    found = _by_name(rate("AB", {("A", "B"): (0, 0, 0, 0, 20)}))
    assert 300 < found["A"].elo - found["B"].elo < 3000
    assert 2 * found["A"].error > 300


def test_without_games_all_are_equal_and_nothing_is_known():
    ratings = rate("AB", {})
    assert [rating.elo for rating in ratings] == [0, 0]
    assert min(rating.error for rating in ratings) > 1000
