"""Tunes the parameters of the search by games between two sets of values; each pair of games moves all parameters."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import astuple
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from knightadder.arguments import positive
from knightadder.engine.errors import EngineError, OptionError
from knightadder.progress import progress, steps
from knightadder.runs import Journal, source_digest
from knightadder.workshop.book_argument import add_openings, read_book
from knightadder.workshop.tune.spsa import (
    AHEAD,
    R_END,
    Spsa,
    Trial,
    Tunable,
)

if TYPE_CHECKING:
    from knightadder.core.search.parameters import Parameter
    from knightadder.workshop.openings import Book

# Plays a trial, and returns the results for its first set: 1, 0 or -1 per game.
Play: TypeAlias = Callable[[Trial], Sequence[int]]

FORMAT = 2
REMEDY = "give another --state"

_POLL_SECONDS = 0.1
_MOST_MOVED = 3  # parameters shown in a progress line


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the subcommand ``spsa``."""
    command = commands.add_parser(
        "spsa",
        help="tune search parameters by games",
        description="Tune search parameters by games between two sets of them; prints lines for parameters.py.",
    )
    which = command.add_mutually_exclusive_group()
    which.add_argument("--parameters", metavar="NAME[,NAME...]", help="what to tune")
    which.add_argument("--all", action="store_true", help="tune all parameters, as by default")
    command.add_argument("--iterations", type=positive, required=True, metavar="N", help="pairs of games")
    command.add_argument("--nodes", type=positive, default=20_000, metavar="N", help="nodes a move; 20000 by default")
    command.add_argument("--concurrency", type=positive, default=1, metavar="N", help="games at once; 1 by default")
    add_openings(command)
    command.add_argument("--seed", type=int, default=1, metavar="N", help="of all chance; 1 by default")
    command.add_argument(
        "--r-end",
        type=_rate,
        default=R_END,
        metavar="R",
        help=f"the last step, in perturbations; {R_END:g} suits tens of thousands of pairs, fewer need more",
    )
    command.add_argument("--state", type=Path, metavar="FILE", help="JSON lines; the same command goes on from there")
    command.add_argument("--hash", type=positive, default=8, metavar="MB", help="hash table of each side; 8 by default")
    command.add_argument(
        "--interval", type=positive, default=20, metavar="N", help="iterations between lines, off a terminal; 20"
    )
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand and return the exit status.

    Raises
    ------
    OptionError
        If an argument is wrong, a file cannot be used, or the results belong to another run.
    PositionError
        If an opening is not legal.
    """
    from knightadder.core.search.parameters import PARAMETERS

    if arguments.concurrency > AHEAD:
        raise OptionError(f"--concurrency {arguments.concurrency}: expected {AHEAD} or less")
    parameters = _choose(PARAMETERS, arguments.parameters)
    book = read_book(arguments.openings)
    spsa = Spsa(
        [Tunable.of(parameter) for parameter in parameters], arguments.iterations, arguments.r_end, arguments.seed
    )
    setup = {
        "parameters": [list(astuple(tunable)) for tunable in spsa.tunables],
        "iterations": arguments.iterations,
        "nodes": arguments.nodes,
        "hash": arguments.hash,
        "openings": [book.name, book.digest],
        "seed": arguments.seed,
        "r-end": arguments.r_end,
        "sources of the engine": source_digest(),
    }
    with Results(arguments.state, spsa, setup) as results:
        stopped: KeyboardInterrupt | EngineError | None = None
        try:
            if spsa.trials:
                _play(spsa, results, book, arguments)
        except (KeyboardInterrupt, EngineError) as error:
            stopped = error
        if spsa.done:
            _print_results(parameters, spsa, results)
    if stopped is not None:
        if arguments.state and spsa.done:
            print(f"The results are in {arguments.state}; the same command goes on from there", file=sys.stderr)
        raise stopped
    return 0


def _play(spsa: Spsa, results: Results, book: Book, arguments: argparse.Namespace) -> None:
    """Play all games that are missing."""
    book.check(spsa.iterations)

    from knightadder.engine.loader import load_and_report
    from knightadder.engine.options import Options

    # Compiles the core, if necessary, before the threads start.
    with steps() as show_step:
        load_and_report(Options(), show_step).close()
    from knightadder.workshop.selfplay import SelfPlay

    names = [tunable.name for tunable in spsa.tunables]
    players = [SelfPlay(arguments.nodes, arguments.hash) for _ in range(arguments.concurrency)]

    def play_with(player: SelfPlay) -> Play:
        def play(trial: Trial) -> Sequence[int]:
            first, second = (dict(zip(names, values, strict=True)) for values in (trial.plus, trial.minus))
            return player.play_pair(book.opening(trial.number - 1), first, second)

        return play

    def stop() -> None:
        for player in players:
            player.stop()

    with _display(spsa, results, arguments.interval) as show:

        def on_results(pair: Sequence[int]) -> None:
            results.add(pair)
            show()

        run_trials(spsa, [play_with(player) for player in players], on_results, stop)


def run_trials(
    spsa: Spsa, plays: Sequence[Play], on_results: Callable[[Sequence[int]], None], stop: Callable[[], None]
) -> None:
    """Play all trials, several at once.

    Parameters
    ----------
    spsa : Spsa
        The method; receives the results in the order of the trials, even if they finish in another order.
    plays : sequence of callable
        Called in threads, each for one trial at a time.
    on_results : callable
        Called in the calling thread with the results of each trial, in their order, after `spsa` has received them.
    stop : callable
        Aborts the running games; always called before this function returns or raises.
    """
    idle: SimpleQueue[Play] = SimpleQueue()
    for play in plays:
        idle.put(play)

    def play_next(trial: Trial) -> Sequence[int]:
        play = idle.get()
        try:
            return play(trial)
        finally:
            idle.put(play)

    pool = ThreadPoolExecutor(len(plays))
    try:
        running = deque(pool.submit(play_next, trial) for trial in spsa.trials)
        while running:
            while not running[0].done():  # polls, since Ctrl-C does not end a wait on every system
                wait([running[0]], _POLL_SECONDS)
            results = running.popleft().result()
            trial = spsa.answer(sum(results))
            if trial is not None:
                running.append(pool.submit(play_next, trial))
            on_results(results)
    finally:
        stop()
        pool.shutdown(cancel_futures=True)


# --- arguments -----------------------------------------------------------------------------------------------------


def _rate(text: str) -> float:
    value = float(text)
    if not 0 < value <= 1:
        raise ValueError(text)
    return value


def _choose(parameters: Sequence[Parameter], names: str | None) -> list[Parameter]:
    """Return the parameters with these names, or all of them."""
    if names is None:
        return list(parameters)
    wanted = names.split(",")
    known = [parameter.name for parameter in parameters]
    for name in wanted:
        if name not in known:
            raise OptionError(f"there is no parameter {name}; there are {', '.join(known)}")
    return [parameter for parameter in parameters if parameter.name in wanted]


# --- the results ---------------------------------------------------------------------------------------------------


class Results:
    """The results of all trials, in a journal from which a run can be continued.

    Parameters
    ----------
    file : Path, optional
        The journal; without a file nothing is kept.
    spsa : Spsa
        The method; receives the results that are in the journal.
    setup : dict
        Identifies the run; must be serialisable as JSON.

    Attributes
    ----------
    counts : list of int
        Games won, drawn and lost by the first sets.

    Raises
    ------
    OptionError
        If the file belongs to another run, is damaged, in use, or cannot be used.
    """

    def __init__(self, file: Path | None, spsa: Spsa, setup: dict[str, Any]) -> None:
        self.counts = [0, 0, 0]
        self._spsa = spsa
        with contextlib.ExitStack() as stack:
            self._journal = stack.enter_context(Journal(file, {"format": FORMAT, **setup}, REMEDY))
            for number, results in self._journal.entries(self._read):
                if number != spsa.done + 1:
                    raise OptionError(f"{file} lacks pair {spsa.done + 1}: {REMEDY}")
                spsa.answer(sum(results))
                self._count(results)
            stack.pop_all()

    def _read(self, entry: dict[str, Any]) -> tuple[int, list[int]]:
        number, results = entry["number"], entry["results"]
        if not 1 <= number <= self._spsa.iterations or len(results) != 2 or not set(results) <= {-1, 0, 1}:
            raise ValueError("not the results of a trial")
        return number, [int(result) for result in results]

    def _count(self, results: Sequence[int]) -> None:
        for result in results:
            self.counts[1 - result] += 1

    def add(self, results: Sequence[int]) -> None:
        """Append the results that the method received last; OptionError if they cannot be written."""
        self._journal.add(self._spsa.done, {"results": list(results)})
        self._count(results)

    def __enter__(self) -> Self:
        """Return the results for a ``with`` block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file at the end of a ``with`` block."""
        self._journal.close()


# --- showing -------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _display(spsa: Spsa, results: Results, interval: int) -> Iterator[Callable[[], None]]:
    """Show the progress: a bar on a terminal, else a line for each `interval` pairs of games and for the last."""
    first, begun = spsa.done, time.perf_counter()

    def speed() -> str:
        return f"{2 * (spsa.done - first) / max(time.perf_counter() - begun, 1e-9):.2f} games/s"

    def due(done: float) -> bool:
        return done % interval == 0 or not spsa.trials

    with progress(spsa.iterations, first, "pairs", due=due) as update:
        yield lambda: update(spsa.done, f"{speed()}  {_summary(spsa, results)}")


def _summary(spsa: Spsa, results: Results) -> str:
    """Return a line with the results so far: games, and the parameters that moved most in their ranges."""
    moved = sorted(
        zip(spsa.tunables, spsa.theta, strict=True),
        key=lambda pair: -abs(pair[1] - pair[0].start) / max(pair[0].high - pair[0].low, 1),
    )
    moves = ", ".join(f"{tunable.name} {tunable.start} -> {theta:.2f}" for tunable, theta in moved[:_MOST_MOVED])
    return f"+{results.counts[0]} ={results.counts[1]} -{results.counts[2]}  {moves}"


def _print_results(parameters: Sequence[Parameter], spsa: Spsa, results: Results) -> None:
    """Print the values of all parameters, and the source lines that set them."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    wins, draws, losses = results.counts
    title = f"{spsa.done} of {spsa.iterations} pairs: +{wins} ={draws} -{losses} for the first of the two sets"
    table = Table(title=title, title_justify="left", box=box.SIMPLE)
    table.add_column("Parameter", no_wrap=True)
    for heading in ("Start", "Now", "Change", "Low", "High"):
        table.add_column(heading, justify="right", no_wrap=True)
    for tunable, theta in zip(spsa.tunables, spsa.theta, strict=True):
        bounds = map(str, (tunable.low, tunable.high))
        table.add_row(tunable.name, str(tunable.start), f"{theta:.2f}", f"{theta - tunable.start:+.2f}", *bounds)
    console = Console() if sys.stdout.isatty() else Console(width=120)
    console.print(table)
    for parameter, theta in zip(parameters, spsa.theta, strict=True):
        name, _, low, high, meaning = parameter
        print(f'    Parameter("{name}", {round(theta)}, {low}, {high}, {json.dumps(meaning, ensure_ascii=False)}),')
