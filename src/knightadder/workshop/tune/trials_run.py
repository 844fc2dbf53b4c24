"""A run of a method that learns from trials: its arguments, the journal of the results, and the output."""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from knightadder.arguments import declare, whole
from knightadder.digests import source_digest
from knightadder.engine.errors import OptionError
from knightadder.parallel.executor import add_workers, open_pool
from knightadder.progress import progress
from knightadder.runs import REMEDY, Journal, going_on
from knightadder.workshop.book_argument import add_openings, read_book
from knightadder.workshop.match.time_control import Allowance, TimeControl
from knightadder.workshop.tune.trials import AHEAD, Method, TrialPlayer, run_trials

if TYPE_CHECKING:
    from knightadder.core.search.parameters import Parameter
    from knightadder.workshop.opening_book import OpeningBook

FORMAT = 2


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Declare the arguments of `run_method`."""
    limit = command.add_mutually_exclusive_group()
    declare(limit, "--nodes", default=60_000, help="number of nodes per move")
    limit.add_argument("--tc", metavar="TC", help="time control, such as 8+0.08 (seconds) or 40/1:30")
    command.add_argument(
        "--nodestime",
        type=whole(0, 10_000),
        default=0,
        metavar="N",
        help="number of nodes that counts as a millisecond of the clock of --tc, so that other programs on the machine "
        "do not affect the games; 0 for real time (default: 0)",
    )
    add_workers(command, default=1, help="number of games at the same time")
    add_openings(command)
    declare(command, "--seed")
    declare(
        command,
        "--state",
        metavar="FILE",
        help="file that stores the finished games, so that the same command can continue an interrupted run",
    )
    declare(command, "--restart")
    declare(command, "--hash", default=8, help="size of each side's hash table, in MB")
    declare(
        command,
        "--interval",
        help="if the output is not a terminal, print a progress line after every N game pairs",
    )


def parameter_named(parameters: Sequence[Parameter], name: str) -> Parameter:
    """Return the parameter with a name; OptionError if there is none."""
    for parameter in parameters:
        if parameter.name == name:
            return parameter
    raise OptionError(f"unknown parameter {name}; the parameters are {', '.join(each.name for each in parameters)}")


def run_method(
    method: Method,
    about: dict[str, Any],
    arguments: argparse.Namespace,
    summary: Callable[[], str],
    show: Callable[[], None],
) -> int:
    """Play the missing trials of a method, show what it has learned, and return the exit status.

    `about` identifies the run, in addition to the arguments. `summary` returns a line about what the method has
    learned. `show` prints the results at the end, even after Ctrl-C, if there are any.
    """
    if arguments.concurrency > AHEAD:
        raise OptionError(f"--concurrency {arguments.concurrency}: expected {AHEAD} or less")
    if arguments.tc and arguments.cluster and not arguments.nodestime:
        raise OptionError("--tc needs --nodestime with --cluster, whose machines differ in speed")
    if arguments.nodestime and not arguments.tc:
        raise OptionError("--nodestime needs --tc")
    if arguments.tc:
        allowance = Allowance(TimeControl.parse(arguments.tc), node_time=arguments.nodestime)
    else:
        allowance = Allowance(nodes=arguments.nodes)
    book = read_book(arguments.openings)
    book.check(method.total)  # a bad opening must not let --restart forget the results
    setup = {
        **about,
        "nodes": allowance.nodes,
        # None equals a missing entry, so older runs can continue.
        "tc": str(allowance.time_control) if arguments.tc else None,
        "nodestime": arguments.nodestime or None,
        "hash": arguments.hash,
        "openings": [book.name, book.digest],
        "seed": arguments.seed,
        "sources of the engine": source_digest(),
    }
    state: Path | None = arguments.state
    with kept_results(state, method, setup, arguments.restart) as keep:
        try:
            with going_on(lambda: f"The results are in {state}" if state and method.done else ""):
                if method.trials:
                    _play(method, keep, book, allowance, arguments, summary)
        finally:
            if method.done:
                show()
    return 0


def _play(
    method: Method,
    keep: Callable[[Sequence[int]], None],
    book: OpeningBook,
    allowance: Allowance,
    arguments: argparse.Namespace,
    summary: Callable[[], str],
) -> None:
    from knightadder.engine.evaluator import BUILT_IN_FILE, load_network

    load_network(BUILT_IN_FILE)  # without a network, the values would be tuned for the classical evaluation

    def due(done: float) -> bool:
        return done % arguments.interval == 0 or not method.trials

    player = TrialPlayer(method.names, allowance, arguments.hash)
    with (
        open_pool(player, arguments.cluster, arguments.concurrency, core=True) as pool,
        progress(method.total, method.done, "pairs", due=due, place=pool.place) as update,
    ):
        first, begun = method.done, time.perf_counter()
        for results in run_trials(method, pool, book):
            keep(results)
            speed = 2 * (method.done - first) / max(time.perf_counter() - begun, 1e-9)
            update(method.done, f"{speed:.2f} games/s  {_score(method)}  {summary()}")


# --- the results ---------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def kept_results(
    file: Path | None, method: Method, setup: dict[str, Any], restart: bool = False
) -> Iterator[Callable[[Sequence[int]], None]]:
    """Keep the results of all trials in a journal, from which a run continues; without a file, nothing is saved.

    On opening, the results in the journal are passed to the method. Yields a function that appends the results that the
    method received last. OptionError if the file belongs to another run, is damaged, in use, or cannot be used.
    """
    with Journal(file, {"format": FORMAT, **setup}, restart) as journal:
        for number, results in journal.entries(_read):
            if not method.trials:
                raise OptionError(f"{file} contains more than the {method.total} pairs of this run: {REMEDY}")
            if number != method.done + 1:
                raise OptionError(f"{file} is damaged: pair {method.done + 1} is missing; {REMEDY}")
            method.answer(results)
        yield lambda results: journal.add(method.done, {"results": list(results)})


def _read(entry: dict[str, Any]) -> tuple[int, list[int]]:
    number, results = entry["number"], entry["results"]
    if number < 1 or len(results) != 2 or not set(results) <= {-1, 0, 1}:
        raise ValueError("not the results of a trial")
    return number, [int(result) for result in results]


# --- showing -------------------------------------------------------------------------------------------------------


def _score(method: Method) -> str:
    """Return the games won, drawn and lost by `plus`, in all trials, as ``+5 =7 -4``."""
    wins, draws, losses = method.counts
    return f"+{wins} ={draws} -{losses}"


def title(method: Method) -> str:
    """Return a line with the number of pairs and the results."""
    return f"{method.done} of {method.total} pairs: {_score(method)} for the first of the two sets"


def print_table(method: Method, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print the results, and a table of what a method has learned; all columns except the first contain numbers."""
    from rich.console import Console

    from knightadder.text_table import text_table

    console = Console() if sys.stdout.isatty() else Console(width=120)
    console.print(text_table(headings, rows, title=title(method)))
