"""Trials of search parameters: pairs of games between two sets of values, from which a method learns.

The workers of a pool (`knightadder.executor`) play the games, each of them within its process. The results are kept in
a journal, from which the same command goes on.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from knightadder.arguments import declare
from knightadder.closing import Closing
from knightadder.engine.errors import EngineError, OptionError
from knightadder.executor import add_cluster, open_pool
from knightadder.pool import Pool
from knightadder.progress import progress
from knightadder.runs import REMEDY, Journal, source_digest
from knightadder.workshop.book_argument import add_openings, read_book
from knightadder.workshop.match.time_control import TimeControl

if TYPE_CHECKING:
    from knightadder.core.search.parameters import Parameter
    from knightadder.workshop.opening_book import BookLine, OpeningBook
    from knightadder.workshop.selfplay import SelfPlay

# Each trial is drawn this many trials ahead, from what was known at that time. So the outcome does not depend on the
# speed or number of workers, and no worker waits for a long game. Such a small delay does no harm. No more workers than
# these are busy at once.
AHEAD = 32

FORMAT = 2


# --- the method ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Trial:
    """Two sets of values to be played against each other.

    Attributes
    ----------
    number : int
        Its number, from 1.
    signs : tuple of int
        For each number or factor, +1 if the first set has the greater value or the change, else -1.
    plus, minus : tuple of int
        The first and the second set.
    """

    number: int
    signs: tuple[int, ...]
    plus: tuple[int, ...]
    minus: tuple[int, ...]


class Method(ABC):
    """A method that learns from trials, and the trials that it draws.

    The constructor of a method calls this one last, since it draws the first trials.

    Parameters
    ----------
    names : iterable of str
        Names of the parameters whose values the trials have.
    total : int
        Number of trials.

    Attributes
    ----------
    names : tuple of str
        As above.
    total : int
        As above.
    done : int
        Number of trials that are answered.
    trials : deque of Trial
        The next trials, to be answered in this order.
    """

    def __init__(self, names: Iterable[str], total: int) -> None:
        self.names, self.total, self.done = tuple(names), total, 0
        self.trials = deque(self._draw(number) for number in range(1, min(AHEAD, total) + 1))

    def answer(self, result: int) -> Trial | None:
        """Process the result of the first of `trials`, and draw another trial.

        Parameters
        ----------
        result : int
            Games that its first set won minus games that it lost.

        Returns
        -------
        Trial or None
            The trial added to `trials`; None if the last trial has been drawn already.
        """
        trial = self.trials.popleft()
        self.done = trial.number
        self._learn(trial, result)
        if trial.number + AHEAD > self.total:
            return None
        self.trials.append(self._draw(trial.number + AHEAD))
        return self.trials[-1]

    @abstractmethod
    def _draw(self, number: int) -> Trial:
        """Return the trial of a number; its random numbers depend on nothing but this number and a seed."""

    @abstractmethod
    def _learn(self, trial: Trial, result: int) -> None:
        """Process the result of a trial, see `answer`."""


# --- the command ---------------------------------------------------------------------------------------------------


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Declare the arguments of `run_method`."""
    limit = command.add_mutually_exclusive_group()
    declare(limit, "--nodes", default=20_000, help="number of nodes of each move")
    limit.add_argument("--tc", metavar="TC", help="time control, such as 8+0.08 or 40/1:30; not with --cluster")
    where = command.add_mutually_exclusive_group()
    declare(where, "--concurrency", default=1, help="number of games at the same time")
    add_cluster(where)
    add_openings(command)
    declare(command, "--seed")
    declare(command, "--state", metavar="FILE", help="file of the finished games, from which the same command goes on")
    declare(command, "--restart")
    declare(command, "--hash", default=8, help="size of each side's hash table")
    declare(
        command, "--interval", help="number of pairs of games between two lines of progress, where there is no terminal"
    )


def parameter_named(parameters: Sequence[Parameter], name: str) -> Parameter:
    """Return the parameter of a name; OptionError if there is none."""
    for parameter in parameters:
        if parameter.name == name:
            return parameter
    raise OptionError(f"there is no parameter {name}; there are {', '.join(each.name for each in parameters)}")


def run_method(
    method: Method,
    about: dict[str, Any],
    arguments: argparse.Namespace,
    summary: Callable[[], str],
    show: Callable[[Results], None],
) -> int:
    """Play all trials of a method that are missing, show what it has learned, and return the exit status.

    Parameters
    ----------
    method : Method
        The method.
    about : dict
        Identifies the run, besides what `arguments` have; must be serialisable as JSON.
    arguments : Namespace
        Those of `add_arguments`.
    summary : callable
        Returns what the method has learned, in a line.
    show : callable
        Prints it; also called after Ctrl-C, but not before there is a result.

    Raises
    ------
    OptionError
        If an argument is wrong, a file cannot be used, or the results belong to another run.
    PositionError
        If an opening is not legal.
    """
    if arguments.concurrency > AHEAD:
        raise OptionError(f"--concurrency {arguments.concurrency}: expected {AHEAD} or less")
    if arguments.tc and arguments.cluster:
        raise OptionError("--tc is for games on this machine: a cluster's machines differ in speed")
    limit = TimeControl.parse(arguments.tc) if arguments.tc else int(arguments.nodes)
    book = read_book(arguments.openings)
    setup = {
        **about,
        "nodes": None if arguments.tc else limit,
        "tc": str(limit) if arguments.tc else None,  # None as in the states of runs before there was such a thing
        "hash": arguments.hash,
        "openings": [book.name, book.digest],
        "seed": arguments.seed,
        "sources of the engine": source_digest(),
    }
    stopped: KeyboardInterrupt | EngineError | None = None
    with Results(arguments.state, method, setup, arguments.restart) as results:
        try:
            if method.trials:
                _play(method, results, book, limit, arguments, summary)
        except (KeyboardInterrupt, EngineError) as error:
            stopped = error
        if method.done:
            show(results)
    if stopped is not None:
        if arguments.state and method.done:
            print(f"The results are in {arguments.state}; the same command goes on from there", file=sys.stderr)
        raise stopped
    return 0


# --- the games -----------------------------------------------------------------------------------------------------


class TrialPlayer:
    """The task that plays a trial: it maps the trial with its opening to the results for the first set, see `results`.

    Parameters
    ----------
    names : sequence of str
        Names of the parameters whose values the trials have.
    limit, megabytes
        See `knightadder.workshop.selfplay.SelfPlay`.
    """

    def __init__(self, names: Sequence[str], limit: int | TimeControl, megabytes: int) -> None:
        self._names, self._limit, self._megabytes = names, limit, megabytes
        self._player: SelfPlay | None = None
        self._closed = False

    def __call__(self, item: tuple[Trial, BookLine]) -> bytes:
        """Play both games of a trial; EngineError if that is not possible."""
        from knightadder.native.building import ImageError

        trial, opening = item
        first, second = (dict(zip(self._names, values, strict=True)) for values in (trial.plus, trial.minus))
        try:
            if self._player is None:
                from knightadder.workshop.selfplay import SelfPlay

                self._player = SelfPlay(self._limit, self._megabytes)
            if self._closed:
                self._player.stop()
            return bytes(1 + result for result in self._player.play_pair(opening, first, second))
        except ImageError as error:
            raise EngineError(str(error)) from None

    def close(self) -> None:
        """Abort the game that is running."""
        self._closed = True
        if self._player is not None:
            self._player.stop()

    @staticmethod
    def results(data: bytes) -> list[int]:
        """Return the results, 1, 0 or -1 for each game, from what a call returned.

        Raises
        ------
        EngineError
            If it is something else.
        """
        if not (isinstance(data, bytes) and len(data) == 2 and set(data) <= {0, 1, 2}):
            raise EngineError("a worker returned damaged results of a trial")
        return [byte - 1 for byte in data]


def _play(
    method: Method,
    results: Results,
    book: OpeningBook,
    limit: int | TimeControl,
    arguments: argparse.Namespace,
    summary: Callable[[], str],
) -> None:
    """Play all games that are missing."""
    book.check(method.total)

    from knightadder.engine.evaluator import BUILT_IN_FILE, load_network
    from knightadder.engine.loader import compile_core

    load_network(BUILT_IN_FILE)  # without it, the values would be tuned for the classical evaluation
    compile_core()  # before the playing processes start

    player = TrialPlayer(method.names, limit, arguments.hash)
    with (
        open_pool(player, arguments.cluster, arguments.concurrency) as pool,
        _display(method, results, arguments.interval, summary, pool.place) as show,
    ):

        def on_results(pair: Sequence[int]) -> None:
            results.add(pair)
            show()

        run_trials(method, pool, book, on_results)


def run_trials(method: Method, pool: Pool, book: OpeningBook, on_results: Callable[[Sequence[int]], None]) -> None:
    """Play all trials, several at once.

    Parameters
    ----------
    method : Method
        The method; receives the results in the order of the trials, even if they finish in another order.
    pool : Pool
        Workers with a `TrialPlayer`.
    book : OpeningBook
        The openings of the trials.
    on_results : callable
        Called with the results of each trial, in their order, after `method` has received them.

    Raises
    ------
    EngineError
        If a worker fails.
    """
    waiting, done = deque(method.trials), dict[int, list[int]]()

    def items() -> Iterator[tuple[Trial, BookLine] | None]:
        while method.trials:
            if waiting:
                trial = waiting.popleft()
                yield trial, book.opening(trial.number - 1)
            else:  # all those that are drawn are being played
                yield None

    for (played, _), data in pool.run(items()):
        done[played.number] = TrialPlayer.results(data)
        while method.trials and method.trials[0].number in done:
            results = done.pop(method.trials[0].number)
            trial = method.answer(sum(results))
            if trial is not None:
                waiting.append(trial)
            on_results(results)


# --- the results ---------------------------------------------------------------------------------------------------


class Results(Closing):
    """The results of all trials, in a journal from which a run can be continued.

    Parameters
    ----------
    file : Path, optional
        The journal; without a file nothing is kept.
    method : Method
        The method; receives the results that are in the journal.
    setup : dict
        Identifies the run; must be serialisable as JSON.
    restart : bool
        Whether to forget the results of the file.

    Attributes
    ----------
    counts : list of int
        Games won, drawn and lost by the first sets.

    Raises
    ------
    OptionError
        If the file belongs to another run, is damaged, in use, or cannot be used.
    """

    def __init__(self, file: Path | None, method: Method, setup: dict[str, Any], restart: bool = False) -> None:
        self.counts = [0, 0, 0]
        self._method = method
        with contextlib.ExitStack() as stack:
            self._journal = stack.enter_context(Journal(file, {"format": FORMAT, **setup}, restart))
            for number, results in self._journal.entries(_read):
                if not method.trials:
                    raise OptionError(f"{file} has more than {method.total} pairs: {REMEDY}")
                if number != method.done + 1:
                    raise OptionError(f"{file} lacks pair {method.done + 1}: {REMEDY}")
                method.answer(sum(results))
                self._count(results)
            stack.pop_all()

    def _count(self, results: Sequence[int]) -> None:
        for result in results:
            self.counts[1 - result] += 1

    def add(self, results: Sequence[int]) -> None:
        """Append the results that the method received last; OptionError if they cannot be written."""
        self._journal.add(self._method.done, {"results": list(results)})
        self._count(results)

    def __str__(self) -> str:
        """Return the counts as ``+5 =7 -4``."""
        wins, draws, losses = self.counts
        return f"+{wins} ={draws} -{losses}"

    def title(self) -> str:
        """Return a line with the number of pairs and the counts."""
        return f"{self._method.done} of {self._method.total} pairs: {self} for the first of the two sets"

    def close(self) -> None:
        """Close the file."""
        self._journal.close()


def _read(entry: dict[str, Any]) -> tuple[int, list[int]]:
    """Return the number and the results of a pair of games."""
    number, results = entry["number"], entry["results"]
    if number < 1 or len(results) != 2 or not set(results) <= {-1, 0, 1}:
        raise ValueError("not the results of a trial")
    return number, [int(result) for result in results]


# --- showing -------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _display(
    method: Method, results: Results, interval: int, summary: Callable[[], str], place: Callable[[], str]
) -> Iterator[Callable[[], None]]:
    """Show the progress: a bar on a terminal, else a line for each `interval` pairs of games and for the last."""
    first, begun = method.done, time.perf_counter()

    def speed() -> str:
        return f"{2 * (method.done - first) / max(time.perf_counter() - begun, 1e-9):.2f} games/s"

    def due(done: float) -> bool:
        return done % interval == 0 or not method.trials

    with progress(method.total, first, "pairs", due=due) as update:
        yield lambda: update(method.done, f"{speed()}  {results}  {summary()}  {place()}".rstrip())


def print_table(results: Results, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table of what a method has learned.

    Parameters
    ----------
    results : Results
        The results, for the title.
    headings : sequence of str
        Headings of the columns; numbers stand in all but the first.
    rows : iterable of sequences of str
        The cells.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=results.title(), title_justify="left", box=box.SIMPLE)
    for number, heading in enumerate(headings):
        table.add_column(heading, justify="right" if number else "left", no_wrap=True)
    for cells in rows:
        table.add_row(*map(Text, cells))
    console = Console() if sys.stdout.isatty() else Console(width=120)
    console.print(table)
