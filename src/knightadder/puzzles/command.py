"""The subcommand `puzzles`: positions of games with one move that wins, or saves."""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from knightadder.arguments import declare, engine_options
from knightadder.engine.errors import OptionError, PositionError
from knightadder.executor import add_cluster, open_pool
from knightadder.progress import progress
from knightadder.runs import check_new, check_not_games, write_whole

if TYPE_CHECKING:
    from knightadder.puzzles.puzzle import Puzzle
    from knightadder.puzzles.workers import Item

_NODES = 500_000  # of the search that decides on a move, by default
_HASH_MB = 32  # of each process

_DESCRIPTION = """\
Find puzzles in games: positions where only one move wins, or saves, and so on to the end of the solution. Each puzzle
gets themes (mateIn2, fork, ...) and a rating: the least UCI_Elo that solves it, or less. Ctrl-C keeps what was found.
knightadder play --puzzles FILE trains them. docs/puzzles.md tells more.
"""


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the subcommand ``puzzles``."""
    command = commands.add_parser(
        "puzzles", help="find puzzles in games, with themes and ratings", description=_DESCRIPTION
    )
    command.add_argument(
        "files", nargs="+", metavar="FILE.pgn", help="games, also as .pgn.gz, .pgn.bz2 or .pgn.xz; - is standard input"
    )
    command.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="file for the puzzles: .pgn, .epd or .csv (default: PGN on standard output)",
    )
    declare(command, "--nodes", default=_NODES, help="number of nodes to decide on a move")
    where = command.add_mutually_exclusive_group()
    declare(where, "--concurrency", help="number of processes (default: one for each processor core)")
    add_cluster(where)
    declare(command, "--hash", default=_HASH_MB, help="size of each process's hash table")
    declare(command, "--syzygy", "--eval", "--eval-file", "--force")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand; return the exit status.

    Raises
    ------
    OptionError
        If a file cannot be read or written, or already exists.
    PositionError
        If the files contain no game.
    EngineError
        If the engine cannot be loaded or a worker fails; what was found is written.
    """
    from knightadder.engine.loader import compile_core
    from knightadder.native.processors import processors
    from knightadder.pgn.files import game_files
    from knightadder.pgn.games import BrokenGame, tell_left_out, tell_notes
    from knightadder.puzzles.workers import PuzzleMaker, puzzles_of

    out: Path | None = arguments.out
    suffix = _check_out(out, arguments.files, arguments.force)
    with game_files(arguments.files) as files:
        total = sum(1 for _ in _items(files))
        if not total:
            raise PositionError(f"there is no game in {', '.join(name for name, _ in files)}")
        if not arguments.cluster:
            compile_core()  # before the processes start
        found: dict[int, list[Puzzle]] = {}
        broken = 0
        options = engine_options(arguments)
        try:
            with (
                open_pool(
                    PuzzleMaker(arguments.nodes, int(options.pop("Hash")), options),
                    arguments.cluster,
                    min(arguments.concurrency or processors(), total),
                ) as pool,
                progress(total, unit="games", stderr=True) as update,
            ):
                for item, result in pool.run(_items(files)):
                    found[item.number] = []
                    try:
                        found[item.number], notes = puzzles_of(result)
                        tell_notes(item.file, item.text, notes)
                    except BrokenGame as fault:
                        broken += 1
                        tell_left_out(item.file, item.text, fault)
                    count = sum(map(len, found.values()))
                    update(len(found), f"{count} puzzle{'' if count == 1 else 's'}  {pool.place()}".rstrip())
        finally:  # also after Ctrl-C or a failure
            written = _write(found, out, suffix) if found else 0
    where = f"{out}: " if out else ""
    bad = f", {broken} left out" if broken else ""
    print(f"{where}{written} puzzles from {len(found) - broken} games{bad}", file=sys.stderr)
    return 0


def _check_out(out: Path | None, games: list[str], force: bool) -> str:
    """Return the suffix of the format; OptionError, before hours of work, if the file cannot be written."""
    if out is None:
        return ".pgn"
    from knightadder.puzzles.output import WRITERS

    suffix = out.suffix.lower()
    if suffix not in WRITERS:
        raise OptionError(f"--out {out}: expected a name that ends in .pgn, .epd or .csv")
    check_not_games(out, games)
    check_new(out, force)
    return suffix


def _items(files: Sequence[tuple[str, Path]]) -> Iterator[Item]:
    """Read the games of all files, given by the names that the user knows, and their places."""
    from knightadder.pgn.games import read_texts
    from knightadder.puzzles.workers import Item

    numbers = itertools.count()
    for name, file in files:
        for text in read_texts(file):
            yield Item(next(numbers), Path(name).name, text)


def _write(found: dict[int, list[Puzzle]], out: Path | None, suffix: str) -> int:
    """Write the puzzles in the order of the games, each once; return their number."""
    from knightadder.puzzles.output import text_of

    puzzles = list({puzzle.id: puzzle for number in sorted(found) for puzzle in found[number]}.values())
    text = text_of(puzzles, suffix)
    if out is None:
        print(text, end="", flush=True)
    else:
        write_whole(out, text.encode())
    return len(puzzles)
