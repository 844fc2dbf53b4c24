"""The subcommand `datagen`: positions with scores and results, from games of the engine against itself."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from knightadder.arguments import positive
from knightadder.engine.errors import OptionError
from knightadder.workshop.book_argument import add_openings, read_book

if TYPE_CHECKING:
    from knightadder.engine.engine import Engine
    from knightadder.workshop.datagen.games import Settings
    from knightadder.workshop.datagen.parts import Parts

_LINE_SECONDS = 10  # between lines of progress, off a terminal
_POLL_SECONDS = 0.1
_EXIT_INTERRUPTED = 130  # as in `cli.py`

_DESCRIPTION = """\
Let the engine play against itself and keep the quiet positions, 32 bytes each, with the score that search found and the
result of the game: what evaluations are fitted to. The games gather in the folder FILE.parts. The command may be broken
off; the same one goes on, also with more --positions or another --concurrency. docs/datagen.md describes the format.
"""


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the subcommand ``datagen``."""
    command = commands.add_parser(
        "datagen", help="make data for fitting an evaluation, by games against itself", description=_DESCRIPTION
    )
    command.add_argument("file", type=Path, metavar="FILE", help="where to write the positions")
    what = command.add_mutually_exclusive_group(required=True)
    what.add_argument("--positions", type=positive, metavar="N", help="play until there are so many, then merge")
    what.add_argument("--merge", action="store_true", help="write FILE from the games that there are, play none")
    command.add_argument(
        "--nodes", type=positive, default=1000, metavar="N", help="begin no depth after so many a move; 1000 by default"
    )
    command.add_argument(
        "--concurrency", type=positive, metavar="N", help="processes that play; by default one for each processor core"
    )
    command.add_argument("--seed", type=int, default=1, metavar="N", help="of all chance; 1 by default")
    add_openings(command)
    command.add_argument(
        "--random-plies",
        type=_count,
        default=8,
        metavar="N",
        help="random moves after the opening, one more in half of the games; 8 by default",
    )
    command.add_argument("--hash", type=positive, default=4, metavar="MB", help="hash table of a process; 4 by default")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand; returns the exit status.

    Raises
    ------
    OptionError
        If an argument is wrong, a file cannot be used, or the folder belongs to another run.
    PositionError
        If an opening is not legal.
    """
    file: Path = arguments.file
    if file.is_dir() or not file.name:
        raise OptionError(f"cannot write {file}: it is a folder")

    from knightadder.workshop.datagen.parts import Parts

    parts = Parts(file)
    if not arguments.merge:
        _gather(parts, arguments)
    elif not parts.chunks():
        raise OptionError(f"there are no games in {parts.folder}")
    _merge(parts, file, arguments.seed)
    return 0


def _count(text: str) -> int:
    value = int(text)
    if value < 0:
        raise ValueError(text)
    return value


def _gather(parts: Parts, arguments: argparse.Namespace) -> None:
    """Play until there are enough positions."""
    book = read_book(arguments.openings) if arguments.openings else None
    same: dict[str, Any] = {
        "nodes": arguments.nodes,
        "hash": arguments.hash,
        "seed": arguments.seed,
        "random-plies": arguments.random_plies,
        "openings": [book.name, book.digest] if book else None,
    }
    parts.open(same)
    if parts.positions() >= arguments.positions:
        return

    _compile()
    from knightadder.core.native.processors import processors
    from knightadder.workshop.datagen.games import Settings

    settings = Settings(arguments.nodes, arguments.hash, arguments.seed, arguments.random_plies, book)
    concurrency = arguments.concurrency or processors()
    try:
        _play(settings, parts, arguments.positions, concurrency)
    except KeyboardInterrupt:
        print(f"The games are in {parts.folder}; the same command goes on from there", file=sys.stderr)
        raise


def _compile() -> None:
    """Compile what is not compiled yet, and once only: the processes that play come afterwards."""
    from knightadder.engine.loader import Loader, load_engine
    from knightadder.engine.options import Options

    def load(options: Options, report: Callable[[str], None]) -> Engine:
        engine = load_engine(options, report)
        from knightadder.workshop.datagen.games import compile_player

        compile_player(report)
        return engine

    loader = Loader(Options(), load)
    loader.start()
    shown = None
    try:
        while not loader.ready.wait(_POLL_SECONDS):
            if loader.progress() != shown:
                shown = loader.progress()
                print(shown, file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        os._exit(
            _EXIT_INTERRUPTED
        )  # nothing can interrupt the compiler, and to end the interpreter beneath it would crash
    loader.engine().close()


def _play(settings: Settings, parts: Parts, wanted: int, concurrency: int) -> None:
    """Play the chunks that are missing, lowest number first."""
    from knightadder.workshop.datagen.workers import play_chunks

    missing = parts.missing()
    with _display(parts.positions(), wanted) as (add_game, show):

        def numbers() -> Iterator[int]:
            # The files count, not the games under way: those of a chunk that is broken off are lost.
            while parts.positions() < wanted:
                yield next(missing)

        play_chunks(settings, parts, concurrency, numbers(), add_game, show)


def _merge(parts: Parts, file: Path, seed: int) -> None:
    from knightadder.workshop.datagen.merge import merge

    counts = merge(parts, file, seed)
    share = 100 / max(counts.written, 1)
    print(
        f"{file}: {counts.written} positions, {counts.read - counts.written} duplicates left out; "
        f"White won {counts.wins * share:.1f} %, drew {counts.draws * share:.1f} %, lost {counts.losses * share:.1f} %"
    )


@contextlib.contextmanager
def _display(first: int, wanted: int) -> Iterator[tuple[Callable[[int], None], Callable[[], None]]]:
    """Show how it goes: a bar on a terminal, else a line now and then."""
    done, games, begun = first, 0, time.perf_counter()

    def summary() -> str:
        speed = (done - first) / max(time.perf_counter() - begun, 1e-9)
        return f"{games} games  {speed:.0f} positions/s"

    def add_game(kept: int) -> None:
        nonlocal done, games
        done += kept
        games += 1

    if not sys.stdout.isatty():
        shown = begun

        def show_line() -> None:
            nonlocal shown
            if time.perf_counter() - shown >= _LINE_SECONDS:
                shown = time.perf_counter()
                print(f"{done}/{wanted} positions  {summary()}", flush=True)

        yield add_game, show_line
        return

    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    text = TextColumn("{task.description}", markup=False)
    with Progress(MofNCompleteColumn(), BarColumn(20), TimeRemainingColumn(), text, transient=True) as progress:
        task = progress.add_task("", total=wanted, completed=first)
        yield add_game, lambda: progress.update(task, completed=done, description=summary())
