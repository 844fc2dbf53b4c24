"""Simultaneous perturbation stochastic approximation (SPSA): tunes many numbers at once by noisy comparisons.

Each iteration moves all numbers a little, each up or down by chance, and as far the other way for a second set; the two
sets are compared, by a pair of games, and the numbers take a small step towards the better one. The formulas are those
of Spall, "Implementation of the Simultaneous Perturbation Algorithm for Stochastic Optimization" (1998), in the form
that they have in fishtest, https://github.com/official-stockfish/fishtest. See also
https://www.chessprogramming.org/SPSA.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from knightadder.core.search.parameters import Parameter

# Trials are drawn so many iterations ahead, from the values that are known by then. So the outcome depends on no
# machine's speed or number of threads, and nobody waits for a long game; so small a delay does no harm.
AHEAD = 32

R_END = 0.002  # fishtest's
_ALPHA, _GAMMA = 0.602, 0.101  # Spall's exponents, by which steps and perturbations get smaller
_STABILITY = 0.1  # Spall's A, as a part of all iterations
_STEPS = 20  # last perturbations in the range of a parameter


@dataclass(frozen=True, slots=True)
class Tunable:
    """A whole number to tune.

    Attributes
    ----------
    name : str
        What it is called.
    start, low, high : int
        Its value at first, the least and the greatest allowed.
    c_end : float
        By how much the last iteration moves it up and down.
    """

    name: str
    start: int
    low: int
    high: int
    c_end: float

    @classmethod
    def of(cls, parameter: Parameter) -> Tunable:
        """Tune a parameter of the search, in perturbations that are large enough to change it."""
        name, value, low, high, _ = parameter
        return cls(name, value, low, high, max((high - low) / _STEPS, 0.5))


@dataclass(frozen=True, slots=True)
class Trial:
    """Two sets of values to be played against each other.

    Attributes
    ----------
    number : int
        Of the iteration, from 1 on.
    signs : tuple of int
        For each parameter, +1 if the first set has the greater value, else -1.
    plus, minus : tuple of int
        The first and the second set.
    """

    number: int
    signs: tuple[int, ...]
    plus: tuple[int, ...]
    minus: tuple[int, ...]


class Spsa:
    """The state of the method between two results.

    Parameters
    ----------
    tunables : sequence of Tunable
        What to tune.
    iterations : int
        Number of trials.
    r_end : float
        The last step, as a part of the last perturbation and for each game won more than lost.
    seed : int
        Of all chance.

    Attributes
    ----------
    theta : list of float
        The values now.
    done : int
        Iterations completed.
    trials : deque of Trial
        The next ones, of which the first has to be answered first.
    """

    def __init__(self, tunables: Sequence[Tunable], iterations: int, r_end: float = R_END, seed: int = 1) -> None:
        self.tunables, self.iterations = tuple(tunables), iterations
        self.theta = [float(tunable.start) for tunable in tunables]
        self.done = 0
        self.trials: deque[Trial] = deque()
        self._r_end, self._seed = r_end, seed
        for number in range(1, min(AHEAD, iterations) + 1):
            self.trials.append(self._draw(number))

    def answer(self, result: int) -> Trial | None:
        """Take the result of the first of `trials`, and draw another one.

        Parameters
        ----------
        result : int
            Games that its first set won, less those that it lost.

        Returns
        -------
        Trial or None
            The trial that was added to `trials`; None if the last one is there already.
        """
        trial = self.trials.popleft()
        self.done = trial.number
        rate = self._step(trial.number) * result
        self.theta = [
            min(max(theta + rate * tunable.c_end * sign, tunable.low), tunable.high)
            for theta, tunable, sign in zip(self.theta, self.tunables, trial.signs, strict=True)
        ]
        if trial.number + AHEAD > self.iterations:
            return None
        self.trials.append(self._draw(trial.number + AHEAD))
        return self.trials[-1]

    def _step(self, number: int) -> float:
        """Give a_k / c_k, with c_end as the unit of each parameter."""
        total, stability = self.iterations, _STABILITY * self.iterations
        a: float = self._r_end * ((stability + total) / (stability + number)) ** _ALPHA
        return a / self._perturbation(number)

    def _perturbation(self, number: int) -> float:
        """Give c_k, in the same unit."""
        return math.pow(self.iterations / number, _GAMMA)

    def _draw(self, number: int) -> Trial:
        """Make a trial around the values now; chance depends on its number alone."""
        chance = Random(f"{self._seed} {number}")
        signs, plus, minus = [], [], []
        for theta, tunable in zip(self.theta, self.tunables, strict=True):
            sign = 1 if chance.random() < 0.5 else -1
            by = self._perturbation(number) * tunable.c_end * sign
            # The same luck for both, which so are never the wrong way round.
            luck = chance.random()
            signs.append(sign)
            plus.append(_round(theta + by, luck, tunable))
            minus.append(_round(theta - by, luck, tunable))
        return Trial(number, tuple(signs), tuple(plus), tuple(minus))


def _round(value: float, luck: float, tunable: Tunable) -> int:
    """Round a value within its bounds up or down by luck from 0 to 1, so that it is right on average."""
    return min(math.floor(min(max(value, tunable.low), tunable.high) + luck), tunable.high)
