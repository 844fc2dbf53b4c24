"""The subcommand ``book index``: makes the index of games that the opening explorer reads."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from knightadder.arguments import declare, positive
from knightadder.engine.errors import EngineError, OptionError, PositionError
from knightadder.files import check_outputs, locked, writing
from knightadder.progress import reading_progress
from knightadder.runs import going_on
from knightadder.text import counted

if TYPE_CHECKING:
    import sqlite3

    from knightadder.books.indexer import Indexer

_PLIES = 60  # default number of plies to index of each game

# SQLite's error codes for a damaged index: ERROR (a function fails), CORRUPT, CONSTRAINT, MISMATCH and NOTADB.
_DAMAGE = {1, 11, 19, 20, 26}


def add_command(kinds: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare ``book index``."""
    command = kinds.add_parser(
        "index",
        help="index games for the opening explorer",
        description="Index the games of PGN files by their positions, for `book ask`, the board (`play --explorer`) "
        "and the library. New games are added to an existing index. The same command continues an interrupted run.",
    )
    declare(command, "files")
    declare(
        command, "--out", required=True, metavar="GAMES.sqlite", help="index file to create, or to add the games to"
    )
    command.add_argument(
        "--plies",
        type=positive,
        metavar="N",
        help=f"index the first N plies of each game (default: {_PLIES}, or as in an existing index)",
    )
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand and return the exit status."""
    from knightadder.books.indexer import Indexer
    from knightadder.library.loading import load_core
    from knightadder.pgn.game_files import game_files, opened

    out: Path = arguments.out
    check_outputs({"--out": out}, arguments.files)
    with game_files(arguments.files) as files, locked(out):
        for _, file in files:
            with opened(file):  # raises an error if the file cannot be read
                pass
        load_core()
        new = not out.exists() or (out.is_file() and not out.stat().st_size)  # a run killed early leaves it empty
        plies = arguments.plies or _PLIES if new else _plies(out, arguments.plies)
        with contextlib.ExitStack() as ending, _connected(out, new) as database:
            if new:
                _set_up(database, plies)
            indexer = Indexer(database, plies)
            ending.callback(_remove_empty, out, indexer)
            with (
                going_on(lambda: f"{indexer.games} games are in {out}" if indexer.games else ""),
                reading_progress([file for _, file in files]) as updates,
            ):
                counts = indexer.read(files, updates)
        if not indexer.games:
            raise PositionError(f"no game can be indexed: {counts}")
    print(f"{out}: {counted(indexer.games, 'game')}; {counts}")
    return 0


def _remove_empty(out: Path, indexer: Indexer) -> None:
    """Remove an index without games: nothing can be asked of it."""
    if not indexer.games:
        with contextlib.suppress(OSError):
            out.unlink()


def _plies(out: Path, wanted: int | None) -> int:
    """Return the number of plies of each game that an existing index covers; OptionError if `wanted` is different."""
    from knightadder.library.explorer import Explorer

    with Explorer(out) as explorer:
        if wanted not in (None, explorer.plies):
            made = f"{out} was made with --plies {explorer.plies}"
            raise OptionError(f"{made}: leave out --plies, or give a different --out")
        return explorer.plies


@contextlib.contextmanager
def _connected(out: Path, new: bool) -> Iterator[sqlite3.Connection]:
    """Open an index; errors of SQLite become an OptionError."""
    import sqlite3

    if new:
        with writing(out):
            out.touch()  # raises an error with the reason, which SQLite does not report
    try:
        with contextlib.closing(sqlite3.connect(out, isolation_level=None)) as database:
            # This lets other processes read the index during a transaction.
            database.execute("PRAGMA cache_spill = OFF")
            yield database
    except EngineError:  # not about the index, although it may be a ValueError; for example, a game file is truncated
        raise
    except (sqlite3.Error, ValueError) as error:
        code = getattr(error, "sqlite_errorcode", 1)
        if not new and code & 0xFF in _DAMAGE:
            raise OptionError(f"{out} is damaged ({error}): remove it, and index all games again") from None
        raise OptionError(f"cannot write {out}: {error}") from None  # for example, the disk is full


def _set_up(database: sqlite3.Connection, plies: int) -> None:
    from knightadder.library.explorer_file import SCHEMA

    database.executescript(f"BEGIN; {SCHEMA} INSERT INTO settings VALUES ({plies}); COMMIT;")
