"""Simultaneous perturbation stochastic approximation (SPSA): tunes many numbers at once by noisy comparisons.

Each iteration makes two sets of numbers: in the first set, each number is moved a little, up or down at random, and in
the second set by the same amount in the opposite direction. A pair of games compares the two sets, and the numbers move
a small step towards the better set. The formulas are from Spall, "Implementation of the Simultaneous Perturbation
Algorithm for Stochastic Optimization" (1998), in the form used by fishtest,
https://github.com/official-stockfish/fishtest. See also https://www.chessprogramming.org/SPSA.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from knightadder.workshop.tune.trials import Method, Trial

if TYPE_CHECKING:
    from knightadder.core.search.parameters import Parameter

R_END = 0.002  # fishtest's default
_ALPHA, _GAMMA = 0.602, 0.101  # Spall's exponents for the decrease of steps and perturbations
_STABILITY = 0.1  # Spall's A, as a share of all iterations
_STEPS = 20  # the range of a parameter is this many times its default final perturbation
_PATH_POINTS = 500  # maximum number of points of each parameter's path, enough for a picture


@dataclass(frozen=True, slots=True)
class Tunable:
    """A whole number to tune, from `start` within its range.
    `r_end` is the step per net win in the last iteration, as a share of `c_end`; None means the `r_end` of the run.
    """

    name: str
    start: int
    low: int
    high: int
    c_end: float  # perturbation in the last iteration
    r_end: float | None = None

    @classmethod
    def of(cls, parameter: Parameter, c_end: float | None = None, r_end: float | None = None) -> Tunable:
        """Return a tunable for a parameter of the search, by default with perturbations large enough to change it."""
        name, value, low, high, _ = parameter
        return cls(name, value, low, high, max((high - low) / _STEPS, 0.5) if c_end is None else c_end, r_end)


class Spsa(Method):
    """The state of the method between two results. `r_end` is used for tunables that have no `r_end`."""

    def __init__(self, tunables: Sequence[Tunable], iterations: int, r_end: float = R_END, seed: int = 1) -> None:
        self.tunables = tuple(tunables)
        self.theta = [float(tunable.start) for tunable in tunables]  # the current values
        self.path = [(0, self.theta)]  # (number of trials, the values after them), evenly spaced
        self._rates = [r_end if tunable.r_end is None else tunable.r_end for tunable in tunables]
        self._seed = seed
        super().__init__((tunable.name for tunable in tunables), iterations)

    def _learn(self, trial: Trial, result: int) -> None:
        factor = self._step(trial.number) * result
        self.theta = [
            min(max(theta + factor * rate * tunable.c_end * sign, tunable.low), tunable.high)
            for theta, tunable, rate, sign in zip(self.theta, self.tunables, self._rates, trial.signs, strict=True)
        ]
        if trial.number % -(-self.total // _PATH_POINTS) == 0 or trial.number == self.total:
            self.path.append((trial.number, self.theta))

    def _step(self, number: int) -> float:
        """Return the step size a_k / c_k. For each parameter it is multiplied by r_end * c_end."""
        total, stability = self.total, _STABILITY * self.total
        a: float = ((stability + total) / (stability + number)) ** _ALPHA
        return a / self._perturbation(number)

    def _perturbation(self, number: int) -> float:
        """Return the perturbation c_k. For each parameter it is multiplied by c_end."""
        return math.pow(self.total / number, _GAMMA)

    def _draw(self, number: int) -> Trial:
        """Return a trial with two sets around the current values."""
        chance = Random(f"{self._seed} {number}")
        signs, plus, minus = [], [], []
        for theta, tunable in zip(self.theta, self.tunables, strict=True):
            sign = 1 if chance.random() < 0.5 else -1
            by = self._perturbation(number) * tunable.c_end * sign
            # Both values are rounded with the same random number, so that the greater value stays greater or equal.
            luck = chance.random()
            signs.append(sign)
            plus.append(_round(theta + by, luck, tunable))
            minus.append(_round(theta - by, luck, tunable))
        return Trial(number, tuple(signs), tuple(plus), tuple(minus))


def _round(value: float, luck: float, tunable: Tunable) -> int:
    """Round a value up or down by the random number `luck` (0 to 1), without bias, within the tunable's range."""
    return min(math.floor(min(max(value, tunable.low), tunable.high) + luck), tunable.high)
