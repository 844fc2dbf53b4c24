"""The sequential probability ratio test of a match, generalized (GSPRT) for the pentanomial model.

Two hypotheses about the difference are stated before the match. After each pair of games, the log-likelihood ratio
(LLR) of the hypotheses is computed. The likelihood of a hypothesis is the likelihood of the best-fitting distribution
of results for which the hypothesis is true. The match ends when the LLR leaves an interval, which depends on the chosen
error rates.

Sources: Michel Van den Bergh, "A practical introduction to the GSPRT", "Comments on normalized Elo", and, for the
maximum likelihood distributions, "The generalized maximum likelihood ratio for the expectation value of a
distribution".
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scipy.optimize import brentq

from knightadder.elo_formula import score_of_elo
from knightadder.workshop.match.statistics.elo import NORMALIZED_SCALE, Pentanomial, moments

MODELS = ("normalized", "logistic")

# Maximum Elo of a hypothesis. No test needs more, and a fitting distribution may then not exist.
MAX_ELO = 200

# Assumed count of a result that has not occurred, so that every logarithm exists.
_UNSEEN = 1e-3

_POINTS = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, slots=True)
class Sprt:
    """A test: two hypotheses in Elo, at most `MAX_ELO` and the smaller first, the error rates, and the Elo model."""

    elo0: float
    elo1: float
    alpha: float = 0.05  # probability of accepting the second hypothesis if the first is true
    beta: float = 0.05  # probability of accepting the first hypothesis if the second is true
    model: str = "normalized"  # or "logistic"

    @property
    def hypotheses(self) -> str:
        """Both hypotheses as text: ``[0, 5]``."""
        return f"[{self.elo0:g}, {self.elo1:g}]"

    @property
    def lower(self) -> float:
        """LLR at or below which the first hypothesis is accepted."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """LLR at or above which the second hypothesis is accepted."""
        return math.log((1 - self.beta) / self.alpha)

    def llr(self, counts: Pentanomial) -> float:
        """Return the log-likelihood ratio of the second hypothesis to the first, from five counts of pairs."""
        if not sum(counts):
            return 0.0
        regular = [count or _UNSEEN for count in counts]
        number = sum(regular)
        observed = [count / number for count in regular]
        if self.model == "logistic":
            first, second = (_fit_mean(observed, score_of_elo(elo)) for elo in (self.elo0, self.elo1))
        else:  # a pair's mean has the standard deviation of a game divided by the square root of two
            first, second = (_fit_t(observed, elo / NORMALIZED_SCALE * math.sqrt(2)) for elo in (self.elo0, self.elo1))
        return sum(count * math.log(q / p) for count, p, q in zip(regular, first, second, strict=True))

    def verdict(self, counts: Pentanomial) -> str | None:
        """Return the result of the test: ``passed`` or ``failed``; None while it continues."""
        llr = self.llr(counts)
        if llr >= self.upper:
            return "passed"
        return "failed" if llr <= self.lower else None


def _fit_mean(observed: Sequence[float], mean: float) -> list[float]:
    """Return the maximum likelihood distribution with this mean."""
    return _fit_zero(observed, [value - mean for value in _POINTS])


def _fit_t(observed: Sequence[float], t: float) -> list[float]:
    """Return the maximum likelihood distribution whose mean is `t` standard deviations above a half.
    The condition is not linear in the probabilities, so it is linearized around the last solution until they converge.
    """
    fit = [0.2] * 5
    for _ in range(100):
        mean, variance = moments(fit)
        deviation = math.sqrt(variance)
        last = fit
        fit = _fit_zero(
            observed,
            [value - 0.5 - t * deviation * (1 + ((mean - value) / deviation) ** 2) / 2 for value in _POINTS],
        )
        if max(abs(new - old) for new, old in zip(fit, last, strict=True)) < 1e-11:
            break
    return fit


def _fit_zero(observed: Sequence[float], values: Sequence[float]) -> list[float]:
    """Return the maximum likelihood distribution under which the values have mean zero.
    It is ``p / (1 + x v)`` with the `x` that solves the secular equation ``sum(p v / (1 + x v)) = 0``.
    """

    def secular(x: float) -> float:
        return sum(p * value / (1 + x * value) for p, value in zip(observed, values, strict=True))

    # The equation has exactly one solution between the poles of the extreme values. Within this margin of a pole, the
    # term of the extreme value outweighs all others.
    margin = min(observed) / (2 * max(max(values), -min(values)))
    x = float(brentq(secular, -1 / max(values) + margin, -1 / min(values) - margin, xtol=1e-14))
    return [p / (1 + x * value) for p, value in zip(observed, values, strict=True)]
