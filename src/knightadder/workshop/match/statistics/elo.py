"""Elo from games in pairs: the pentanomial model.

The two games of a pair have the same opening, and each engine plays White once. So the two results are not independent,
and only the sum of each pair is an observation. It has five possible values, and all statistics are computed from the
numbers of pairs with each value. See https://www.chessprogramming.org/Match_Statistics and Michel Van den Bergh,
"Normalized Elo" (2021).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TypeAlias

from knightadder.elo_formula import elo_of_score

try:
    from scipy.special import stdtr, stdtrit
except ModuleNotFoundError:
    HAS_SCIPY = False  # without SciPy, a match shows no errors and no ratings
else:
    HAS_SCIPY = True

# Numbers of pairs with 0, 1/2, 1, 3/2 and 2 points.
Pentanomial: TypeAlias = Sequence[float]

CONFIDENCE = 0.95

# An advantage of one standard deviation of a game's score, in normalized Elo.
NORMALIZED_SCALE = 800 / math.log(10)


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with the ends of its 95 % confidence interval; each may be infinite."""

    value: float
    low: float
    high: float


def pentanomial(pairs: Iterable[float]) -> tuple[int, ...]:
    """Return five counts: how many pairs of games have 0, 0.5, 1, 1.5 and 2 points."""
    counts = [0] * 5
    for points in pairs:
        counts[round(2 * points)] += 1
    return tuple(counts)


def moments(counts: Pentanomial) -> tuple[float, float]:
    """Return mean and variance of a pair's score, in points per game, from five counts; 0.5 and 0 without pairs."""
    number = sum(counts)
    if not number:
        return 0.5, 0.0
    mean = sum(count * index / 4 for index, count in enumerate(counts)) / number
    variance = sum(count * (index / 4 - mean) ** 2 for index, count in enumerate(counts)) / number
    return mean, variance


def elo_interval(counts: Pentanomial) -> Interval:
    """Return an estimate of the Elo difference from five counts of pairs, with Student's t for the interval.
    The interval is infinite if the error is unknown: with fewer than two pairs, with equal pairs, or without SciPy.
    """
    number = sum(counts)
    mean, variance = moments(counts)
    if number < 2 or not variance or not HAS_SCIPY:
        return Interval(elo_of_score(mean), -math.inf, math.inf)
    error = float(stdtrit(number - 1, (1 + CONFIDENCE) / 2)) * math.sqrt(variance / number)
    return Interval(elo_of_score(mean), elo_of_score(mean - error), elo_of_score(mean + error))


def normalized_elo(counts: Pentanomial) -> float:
    """Return normalized Elo: the advantage in scaled standard deviations of a game.
    It is zero without games, and infinite if all pairs have the same points, except 1 point each.
    """
    mean, variance = moments(counts)
    if not variance:
        return math.copysign(math.inf, mean - 0.5) if mean != 0.5 else 0.0
    return (mean - 0.5) / math.sqrt(2.0 * variance) * NORMALIZED_SCALE


def likelihood_of_superiority(counts: Pentanomial) -> float:
    """Return the probability that the first engine is stronger (LOS), by Student's t as for `elo_interval`; 0.5 if
    unknown. Without SciPy, it is the normal approximation.
    """
    number = sum(counts)
    mean, variance = moments(counts)
    if not variance:
        return 0.5 if number < 2 or mean == 0.5 else float(mean > 0.5)
    deviations = (mean - 0.5) / math.sqrt(variance / number)
    return float(stdtr(number - 1, deviations)) if HAS_SCIPY else NormalDist().cdf(deviations)
