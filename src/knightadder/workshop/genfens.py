"""The subcommand `genfens`: writes random openings in the form that OpenBench expects."""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from knightadder.arguments import positive
from knightadder.engine.errors import OptionError
from knightadder.foreign import whole_or_none

_DESCRIPTION = """\
Write random start positions for games. Each is reached by random moves, from the usual start position or from an
opening of the book. No king is in check, and neither side is far ahead. The same seed gives the same positions.
OpenBench's client passes the whole command as one argument, "genfens COUNT seed N book FILE", and reads the positions.
"""

_NO_BOOK = "none"  # stands, in upper or lower case, for no book
_CHESS960 = ("frc", "960", "fischer")  # in the name of a book that OpenBench's client plays as Chess960


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the subcommand ``genfens``."""
    command = commands.add_parser(
        "genfens",
        help="write random openings for OpenBench",
        usage="%(prog)s COUNT [seed N] [book FILE]",
        description=_DESCRIPTION,
    )
    command.add_argument("count", type=positive, metavar="COUNT", help="number of start positions to write")
    command.add_argument(
        "words",
        nargs="*",
        metavar="WORD",
        help="the words seed N set the random seed (default: 0); the words book FILE name an EPD or PGN file with "
        "openings (default: no book, as with book None)",
    )
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand and return the exit status."""
    from knightadder.engine.loader import compile_core

    seed, book = _read(arguments.words)
    compile_core()
    for fen in openings(arguments.count, seed, book):
        print(f"info string genfens {fen}", flush=True)
    return 0


def openings(count: int, seed: int, book: Path | None = None) -> Iterator[str]:
    """Yield random openings as FEN, not in check and with a legal move; they depend only on arguments and evaluation.
    The book is an EPD or PGN file; its positions are Chess960 positions if its name says so.
    """
    from knightadder.engine.evaluator import BUILT_IN_FILE, load_network
    from knightadder.workshop.datagen.self_player import GameSettings, SelfPlayer
    from knightadder.workshop.opening_book import load_book

    chess960 = book is not None and any(mark in book.name.lower() for mark in _CHESS960)
    lines = load_book(book, order="sequential", chess960=chess960) if book else None
    player = SelfPlayer(GameSettings(chess960=0.0, book=lines, network=load_network(BUILT_IN_FILE)))
    for game in player.openings(random.Random(seed)):
        if not game.in_check:
            yield game.fen()
            count -= 1
        if not count:
            return


def _read(words: Sequence[str]) -> tuple[int, Path | None]:
    """Return the seed and the book from the words after the count."""
    given = dict(zip(words[::2], words[1::2], strict=False))
    seed, book = given.pop("seed", "0"), given.pop("book", _NO_BOOK)
    if given or len(words) % 2:
        raise OptionError(f"genfens: expected COUNT [seed N] [book FILE], not {' '.join(words)}")
    number = whole_or_none(seed)
    if number is None:
        raise OptionError(f"genfens: the seed must be a whole number of at least 0, not {seed:.60}")
    return number, None if book.lower() == _NO_BOOK else Path(book)
