"""The argument ``--openings``: the openings of the games that a command plays."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from knightadder.arguments import KEY_VALUES, KeyValues
from knightadder.engine.errors import OptionError

if TYPE_CHECKING:
    from knightadder.workshop.opening_book import OpeningBook

_POLYGLOT = "bin"  # the suffix of Polyglot's books, and the name of their format
_KEYS = ("file", "format", "order", "plies", "seed")


def add_openings(command: argparse._ActionsContainer) -> None:
    """Declare ``--openings``; `read_book` turns its value into a book."""
    command.add_argument(
        "--openings", default=[], help=f"opening book, described by the keys {', '.join(_KEYS)}", **KEY_VALUES
    )


def book_file(words: Iterable[str]) -> Path | None:
    """Return the file of the book that ``--openings`` describes; None for the package's own lines."""
    values = KeyValues.read(words, _KEYS, "--openings")
    return Path(values["file"]) if "file" in values else None


def read_book(words: Iterable[str], chess960: bool = False) -> OpeningBook:
    """Return the book that ``--openings`` describes; see `opening_book.load_book` for the words and their defaults.
    The file may also be a Polyglot book, see `polyglot_openings.draw_lines`.
    """
    from knightadder.workshop.opening_book import FORMATS, ORDERS, load_book

    values = KeyValues.read(words, _KEYS, "--openings")
    file = book_file(words)
    form = values.choice("format", (*FORMATS, _POLYGLOT), None)
    order = values.choice("order", ORDERS, ORDERS[0])
    plies, seed = values.whole("plies", None, 1), values.whole("seed", 1)
    if file is not None and (form == _POLYGLOT or (form is None and file.suffix.lower() == f".{_POLYGLOT}")):
        if chess960 or order != ORDERS[0]:
            raise OptionError(
                f"{file}: a Polyglot book does not support {'Chess960' if chess960 else f'the {order} order'}"
            )
        return _polyglot(file, plies, seed)
    if form == _POLYGLOT:
        raise OptionError(f"format={_POLYGLOT}: name the Polyglot book with file=")
    return load_book(file, form, order, plies, seed, chess960)


def _polyglot(file: Path, plies: int | None, seed: int) -> OpeningBook:
    from knightadder.pgn.games import GameText
    from knightadder.workshop.opening_book import OpeningBook
    from knightadder.workshop.polyglot_openings import draw_lines

    lines = draw_lines(file, plies, seed)
    if not lines:
        raise OptionError(f"there is no opening in {file}")
    entries = [GameText(number, number, f"\t{line}") for number, line in enumerate(lines, 1)]
    return OpeningBook(entries, "tsv", file.stem, file=str(file))
