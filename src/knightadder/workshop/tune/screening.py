"""Screening: estimates the effects of many changes at once, by a factorial experiment.

In each pair of games, one side has a random half of the changes, and the opponent has the other half. So each pair says
something about every change, and least squares separate the effects: the expected score of a side is 0.5, plus the
effect of each change that the side has, minus the effect of each change that it lacks. This is a random two-level
factorial design; see Box, Hunter and Hunter, "Statistics for Experimenters" (2005).

If the effect of a change depends on other changes, the estimate is the average effect over their combinations. If two
changes gain more together than alone, the additional gain cancels out: it adds the same to the scores of both sides.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
from scipy.special import stdtrit

from knightadder.workshop.match.statistics.elo import CONFIDENCE, Interval
from knightadder.workshop.tune.trials import Method, Trial

# Elo per point of score (0 to 1) near a half: the slope of the logistic curve there.
ELO_OF_SCORE = 4 * 400 / math.log(10)

_SPARE = 2  # minimum number of pairs beyond the number of effects, so that the error can be estimated


@dataclass(frozen=True, slots=True)
class Factor:
    """A change to screen: parameters that change together; each has a value without the change and a value with it."""

    label: str
    names: tuple[str, ...]
    off: tuple[int, ...]
    on: tuple[int, ...]


class Screening(Method):
    """The results so far, as sums; no parameter may be in two factors. `needed` pairs are enough for estimates."""

    def __init__(self, factors: Sequence[Factor], pairs: int, seed: int = 1) -> None:
        self.factors = tuple(factors)
        self.needed = len(factors) + _SPARE
        self._seed = seed
        # The normal equations: sums of products of the signs, of signs times scores, and of squared scores.
        self._products = np.zeros((len(factors), len(factors)))
        self._with_scores = np.zeros(len(factors))
        self._squares = 0.0
        super().__init__((name for factor in factors for name in factor.names), pairs)

    def _draw(self, number: int) -> Trial:
        """Return a trial in which a coin toss gives each change to the first or to the second side."""
        chance = Random(f"{self._seed} {number}")
        signs = tuple(1 if chance.random() < 0.5 else -1 for _ in self.factors)
        first, second = (
            tuple(
                value
                for factor, sign in zip(self.factors, signs, strict=True)
                for value in (factor.on if sign == side else factor.off)
            )
            for side in (1, -1)
        )
        return Trial(number, signs, first, second)

    def _learn(self, trial: Trial, result: int) -> None:
        """Add the score of a pair, which is one observation, because its games have the same opening."""
        signs = np.array(trial.signs, float)
        score = result / 4  # the first side's points per game minus 0.5
        self._products += np.outer(signs, signs)
        self._with_scores += signs * score
        self._squares += score * score

    def estimates(self) -> list[Interval] | None:
        """Return the effect of each factor: the Elo that it gains, with its 95 % confidence interval.
        None if there are too few pairs, if factors were always on the same side, or if all pairs ended alike.
        """
        count = len(self.factors)
        if self.done < self.needed or np.linalg.matrix_rank(self._products) < count:
            return None
        effects = np.linalg.solve(self._products, self._with_scores)
        freedom = self.done - count
        variance = (self._squares - effects @ self._with_scores) / freedom
        if variance < 1e-12:  # zero, except for rounding
            return None
        errors = np.sqrt(variance * np.diag(np.linalg.inv(self._products)))
        errors *= float(stdtrit(freedom, (1 + CONFIDENCE) / 2))
        return [
            Interval(*(ELO_OF_SCORE * float(score) for score in (effect, effect - error, effect + error)))
            for effect, error in zip(effects, errors, strict=True)
        ]
