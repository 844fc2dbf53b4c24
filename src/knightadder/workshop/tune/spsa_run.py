"""Tunes the parameters of the search by games between two sets of them, each pair of games moving all parameters."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import astuple
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeAlias

from knightadder.arguments import positive
from knightadder.engine.errors import EngineError, OptionError
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

# Plays a trial, and returns the results for its first set: 1, 0 or -1 a game.
Play: TypeAlias = Callable[[Trial], Sequence[int]]

FORMAT = 1

_SAVE_EVERY = 10  # iterations
_POLL_SECONDS = 0.1
_MOST_MOVED = 3  # parameters in a line of progress


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
    command.add_argument("--state", type=Path, metavar="FILE", help="JSON; the same command goes on from there")
    command.add_argument("--hash", type=positive, default=8, metavar="MB", help="hash table of each side; 8 by default")
    command.add_argument(
        "--interval", type=positive, default=20, metavar="N", help="iterations between lines, off a terminal; 20"
    )
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand; returns the exit status.

    Raises
    ------
    OptionError
        If an argument is wrong, a file cannot be used, or the state belongs to another run.
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
    state = StateFile(
        arguments.state,
        spsa,
        {
            "parameters": [list(astuple(tunable)) for tunable in spsa.tunables],
            "iterations": arguments.iterations,
            "nodes": arguments.nodes,
            "hash": arguments.hash,
            "openings": [book.name, book.digest],
            "seed": arguments.seed,
            "r-end": arguments.r_end,
        },
    )
    stopped: KeyboardInterrupt | None = None
    try:
        if spsa.trials:
            _play(spsa, state, book, arguments)
    except KeyboardInterrupt as error:
        stopped = error
    if spsa.done:
        _print_results(parameters, spsa, state)
    if stopped is not None:
        if arguments.state and spsa.done:
            print(f"The state is in {arguments.state}; the same command goes on from there", file=sys.stderr)
        raise stopped
    return 0


def _play(spsa: Spsa, state: StateFile, book: Book, arguments: argparse.Namespace) -> None:
    """Play all games that are missing."""
    book.check(spsa.iterations)
    state.save()

    from knightadder.engine.loader import load_engine
    from knightadder.engine.options import Options

    # Compiles what is not compiled yet, and once only: the threads come afterwards.
    load_engine(Options(), lambda line: print(line, file=sys.stderr, flush=True)).close()
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

    try:
        with _display(spsa, state, arguments.interval) as show:

            def on_results(results: Sequence[int]) -> None:
                state.add(results)
                show()

            run_trials(spsa, [play_with(player) for player in players], on_results, stop)
    finally:
        state.save()


def run_trials(
    spsa: Spsa, plays: Sequence[Play], on_results: Callable[[Sequence[int]], None], stop: Callable[[], None]
) -> None:
    """Let trials be played until all are done, several at once.

    Parameters
    ----------
    spsa : Spsa
        The method; takes the results in the order of the trials, whichever is finished first.
    plays : sequence of callable
        Each is called in a thread, for one trial at a time.
    on_results : callable
        Told of the results of each trial, in their order, in the thread that called, after `spsa` was.
    stop : callable
        Breaks off the games under way; called in any case before this returns or raises.
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
            while not running[0].done():  # by looking now and then, since not every system lets Ctrl-C end a wait
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
    """Pick parameters by their names, or all of them."""
    if names is None:
        return list(parameters)
    wanted = names.split(",")
    known = [parameter.name for parameter in parameters]
    for name in wanted:
        if name not in known:
            raise OptionError(f"there is no parameter {name}; there are {', '.join(known)}")
    return [parameter for parameter in parameters if parameter.name in wanted]


# --- the state -----------------------------------------------------------------------------------------------------


class StateFile:
    """The state file, and how the games went.

    Parameters
    ----------
    file : Path, optional
        Goes on from it if it exists; without one nothing is kept.
    spsa : Spsa
        The method, whose state is kept and restored.
    setup : dict
        What makes two runs the same, as JSON can hold it.

    Attributes
    ----------
    counts : list of int
        Games won, drawn and lost by the first sets.

    Raises
    ------
    OptionError
        If the file belongs to another run, is no state, or cannot be read.
    """

    def __init__(self, file: Path | None, spsa: Spsa, setup: dict[str, Any]) -> None:
        self.counts = [0, 0, 0]
        self._file, self._spsa = file, spsa
        self._setup = json.loads(json.dumps({"format": FORMAT, **setup}))
        self._keep()
        if file is None:
            return
        try:
            text = file.read_text(encoding="utf-8")
        except FileNotFoundError:
            return
        except OSError as error:
            raise OptionError(f"cannot read {file}: {error.strerror}") from None
        except ValueError:
            text = ""
        try:
            self._restore(json.loads(text))
        except EngineError:
            raise
        except (ValueError, KeyError, TypeError, AttributeError):
            raise OptionError(f"{file} is not the state of a tuning run") from None

    def _restore(self, found: dict[str, Any]) -> None:
        setup = found["setup"]
        differing = [key for key in self._setup if setup.get(key) != self._setup[key]]
        if differing:
            raise OptionError(
                f"{self._file} belongs to another run, with other {', '.join(differing)}: give another --state"
            )
        wins, draws, losses = map(int, found["counts"])
        self._spsa.restore(found["spsa"])
        self.counts = [wins, draws, losses]
        self._keep()

    def _keep(self) -> None:
        """Remember what to write; done between two results, for Ctrl-C may come at any time."""
        self._kept = {"counts": list(self.counts), "spsa": self._spsa.state()}

    def add(self, results: Sequence[int]) -> None:
        """Count the results of a trial that the method was told of, and save the state every few times."""
        for result in results:
            self.counts[1 - result] += 1
        self._keep()
        if self._spsa.done % _SAVE_EVERY == 0:
            self.save()

    def save(self) -> None:
        """Write the file, if there is one, so that at any time either the old or the new one is there."""
        if self._file is None:
            return
        text = json.dumps({"setup": self._setup, **self._kept}) + "\n"
        beside = self._file.with_name(f".{self._file.name}.{os.getpid()}")
        try:
            beside.write_text(text, encoding="utf-8")
            beside.replace(self._file)
        except OSError as error:
            with contextlib.suppress(OSError):
                beside.unlink()
            raise OptionError(f"cannot write {self._file}: {error.strerror}") from None


# --- showing -------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _display(spsa: Spsa, state: StateFile, interval: int) -> Iterator[Callable[[], None]]:
    """Show how it goes: a bar on a terminal, else a line now and then."""
    first, begun = spsa.done, time.perf_counter()

    def speed() -> str:
        return f"{2 * (spsa.done - first) / max(time.perf_counter() - begun, 1e-9):.2f} games/s"

    if not sys.stdout.isatty():

        def show_line() -> None:
            if spsa.done % interval == 0 or not spsa.trials:
                print(f"{spsa.done}/{spsa.iterations} pairs  {speed()}  {_summary(spsa, state)}", flush=True)

        yield show_line
        return

    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
    from rich.table import Column

    text = TextColumn("{task.description}", markup=False, table_column=Column(ratio=1, no_wrap=True))
    with Progress(
        MofNCompleteColumn(), BarColumn(20), TimeRemainingColumn(), text, expand=True, transient=True
    ) as progress:
        task = progress.add_task("", total=spsa.iterations, completed=first)

        def show_bar() -> None:
            progress.update(task, completed=spsa.done, description=f"{speed()}  {_summary(spsa, state)}")

        yield show_bar


def _summary(spsa: Spsa, state: StateFile) -> str:
    """Say in a line what has come out so far: games, and what has moved most in its range."""
    moved = sorted(
        zip(spsa.tunables, spsa.theta, strict=True),
        key=lambda pair: -abs(pair[1] - pair[0].start) / max(pair[0].high - pair[0].low, 1),
    )
    moves = ", ".join(f"{tunable.name} {tunable.start} -> {theta:.2f}" for tunable, theta in moved[:_MOST_MOVED])
    return f"+{state.counts[0]} ={state.counts[1]} -{state.counts[2]}  {moves}"


def _print_results(parameters: Sequence[Parameter], spsa: Spsa, state: StateFile) -> None:
    """Print where all parameters stand, and the lines that make it so."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    wins, draws, losses = state.counts
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
