"""Trials of search parameters: pairs of games between two sets of values, from which a method learns.
The workers of a pool (`knightadder.parallel.executor`) play the games, each worker in its own process.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from knightadder.engine.errors import EngineError
from knightadder.library.loading import load_core
from knightadder.parallel.pool import Pool
from knightadder.workshop.match.time_control import Allowance

if TYPE_CHECKING:
    from knightadder.workshop.opening_book import BookLine, OpeningBook
    from knightadder.workshop.selfplay import SelfPlay

# Each trial is drawn this many trials ahead, from the results known at that time. So the outcome does not depend on the
# speed or number of workers, and no worker waits for a long game. At most this many workers are busy.
AHEAD = 32


@dataclass(frozen=True, slots=True)
class Trial:
    """Two sets of values, `plus` and `minus`, to be played against each other.
    `signs` has +1 for each number whose greater value is in `plus`, or each factor whose change is in `plus`, else -1.
    """

    number: int  # number of the trial, from 1
    signs: tuple[int, ...]
    plus: tuple[int, ...]
    minus: tuple[int, ...]


class Method(ABC):
    """A method that draws trials and learns from their results.

    A subclass calls this constructor last, because it draws the first trials. `names` are the parameters whose values
    the trials contain. `total` is the number of all trials, and `done` the number of answered trials. `counts` are the
    games won, drawn and lost by the `plus` of each trial. `trials` contains the next trials, which must be answered
    in this order.
    """

    def __init__(self, names: Iterable[str], total: int) -> None:
        self.names, self.total, self.done = tuple(names), total, 0
        self.counts = [0, 0, 0]
        self.trials = deque(self._draw(number) for number in range(1, min(AHEAD, total) + 1))

    def answer(self, results: Sequence[int]) -> Trial | None:
        """Process the results of ``trials[0]``: 1, 0 or -1 for each game, from the view of `plus`. Then draw a new
        trial and return it; None if the last trial has already been drawn.
        """
        trial = self.trials.popleft()
        self.done = trial.number
        for result in results:
            self.counts[1 - result] += 1
        self._learn(trial, sum(results))
        if trial.number + AHEAD > self.total:
            return None
        self.trials.append(self._draw(trial.number + AHEAD))
        return self.trials[-1]

    @abstractmethod
    def _draw(self, number: int) -> Trial:
        """Return the trial with this number; the random numbers depend only on this number and a seed."""

    @abstractmethod
    def _learn(self, trial: Trial, result: int) -> None:
        """Process the result of a trial: the wins of `plus` minus its losses."""


class TrialPlayer:
    """The task that plays a trial: it maps a trial with its opening to the results of `plus`, see `results`."""

    def __init__(self, names: Sequence[str], allowance: Allowance, megabytes: int) -> None:
        self._names, self._allowance, self._megabytes = names, allowance, megabytes
        self._player: SelfPlay | None = None
        self._closed = False

    def __call__(self, item: tuple[Trial, BookLine]) -> bytes:
        """Play both games of a trial; EngineError if that fails."""
        trial, opening = item
        first, second = (dict(zip(self._names, values, strict=True)) for values in (trial.plus, trial.minus))
        if self._player is None:
            from knightadder.workshop.selfplay import SelfPlay

            load_core()
            self._player = SelfPlay(self._allowance, self._megabytes)
        if self._closed:
            self._player.stop()
        return bytes(1 + result for result in self._player.play_pair(opening, first, second))

    def close(self) -> None:
        """Abort the running game."""
        self._closed = True
        if self._player is not None:
            self._player.stop()

    @staticmethod
    def results(data: bytes) -> list[int]:
        """Return the results of the games, each 1, 0 or -1, from a `TrialPlayer`'s data."""
        if not (isinstance(data, bytes) and len(data) == 2 and set(data) <= {0, 1, 2}):
            raise EngineError("a worker returned damaged results for a trial")
        return [byte - 1 for byte in data]


def run_trials(method: Method, pool: Pool, book: OpeningBook) -> Iterator[list[int]]:
    """Play all trials, several at once, by a pool whose task is a `TrialPlayer`; EngineError if a worker fails.

    The method receives the results in the order of the trials, even if they finish in a different order. After that,
    the results of the trial's games are yielded.
    """
    waiting, done = deque(method.trials), dict[int, list[int]]()

    def items() -> Iterator[tuple[Trial, BookLine] | None]:
        while method.trials:
            if waiting:
                trial = waiting.popleft()
                yield trial, book.opening(trial.number - 1)
            else:  # all drawn trials are being played
                yield None

    for (played, _), data in pool.run(items()):
        done[played.number] = TrialPlayer.results(data)
        while method.trials and method.trials[0].number in done:
            results = done.pop(method.trials[0].number)
            trial = method.answer(results)
            if trial is not None:
                waiting.append(trial)
            yield results
