"""Ratings of several engines from all their games: the Bradley-Terry model, by maximum likelihood.

The expected score of two engines is the logistic function of the difference of their ratings. Draws count as half a win
and half a loss, so results vary less than in the model, and pairs of games even less. As in quasi-binomial regression,
the errors are scaled by the ratio of the observed variation to the model's variation. For two engines, the result is
the interval of the pentanomial model. See https://www.chessprogramming.org/Match_Statistics, and McCullagh and Nelder,
"Generalized Linear Models", chapter 4.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import expit, ndtri

from knightadder.workshop.match.statistics.elo import CONFIDENCE, Pentanomial

_PER_ELO = math.log(10) / 400

# Standard deviation, in Elo, of a weak prior: a normal distribution around the average. With it, an engine that won all
# its games gets a finite rating. A rating with an error of 30 Elo changes by less than a thousandth of its value.
_PRIOR_ELO = 1500.0


@dataclass(frozen=True, slots=True)
class Rating:
    """An engine's rating relative to the average of all engines, and its error at 95 % confidence, in Elo."""

    name: str
    elo: float
    error: float


def rate(names: Sequence[str], results: Mapping[tuple[str, str], Pentanomial]) -> list[Rating]:
    """Return the ratings of engines that have played each other, best first; their average is zero.
    `results` has the five counts of pairs (see `elo.py`) for each two opponents, from the first opponent's view.
    """
    index = {name: number for number, name in enumerate(names)}
    size = len(names)
    first, second, points, pairs, squares = [], [], [], [], []
    for (one, other), counts in results.items():
        first.append(index[one])
        second.append(index[other])
        pairs.append(sum(counts))
        points.append(sum(count * step / 2 for step, count in enumerate(counts)))
        squares.append(sum(count * (step / 2) ** 2 for step, count in enumerate(counts)))
    incidence = np.zeros((len(pairs), size))
    incidence[np.arange(len(pairs)), first] = 1
    incidence[np.arange(len(pairs)), second] = -1
    score, number = np.array(points), np.array(pairs, dtype=float)
    prior = 1 / (_PRIOR_ELO * _PER_ELO) ** 2

    def loss(ratings: npt.NDArray[np.float64]) -> float:
        difference = incidence @ ratings
        expected = np.logaddexp(0, difference) * 2 * number - score * difference
        return float(expected.sum() + prior / 2 * ratings @ ratings)

    def gradient(ratings: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        result: npt.NDArray[np.float64] = incidence.T @ (2 * number * expit(incidence @ ratings) - score)
        return result + prior * ratings

    def hessian(ratings: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        expected = expit(incidence @ ratings)
        weights = 2 * number * expected * (1 - expected)
        result: npt.NDArray[np.float64] = incidence.T @ (weights[:, None] * incidence)
        return result + prior * np.eye(size)

    best = minimize(loss, np.zeros(size), jac=gradient, hess=hessian, method="trust-exact", options={"gtol": 1e-9}).x

    expected = 2 * expit(incidence @ best)  # expected points of each pair
    observed_spread = (np.array(squares) - 2 * expected * score + number * expected**2).sum()
    model_spread = (number * expected * (1 - expected / 2)).sum()
    # If all pairs ended alike, the spread is underestimated: assume that at least one pair is off by half a point.
    scale = max(observed_spread, 0.25) / model_spread if len(pairs) else 1.0
    centring = np.eye(size) - 1 / size
    covariance = scale * centring @ np.linalg.inv(hessian(best)) @ centring
    errors = float(ndtri((1 + CONFIDENCE) / 2)) * np.sqrt(np.diag(covariance)) / _PER_ELO
    centred = (best - best.mean()) / _PER_ELO
    ratings = [Rating(name, float(centred[i]), float(errors[i])) for i, name in enumerate(names)]
    return sorted(ratings, key=lambda rating: -rating.elo)
