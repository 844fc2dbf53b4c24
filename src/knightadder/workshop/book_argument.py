"""The argument ``--openings``: the openings of a command's games."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from knightadder.workshop.key_values import KeyValues

if TYPE_CHECKING:
    from knightadder.workshop.openings import Book

_KEYS = ("file", "format", "order", "plies", "seed")


def add_openings(command: argparse._ActionsContainer) -> None:
    """Declare ``--openings``; `read_book` turns its words into a book."""
    command.add_argument("--openings", default=[], help=f"keys: {', '.join(_KEYS)}", nargs="*", metavar="KEY=VALUE")


def read_book(words: Iterable[str], chess960: bool = False) -> Book:
    """Return the book that ``--openings`` describes.

    Parameters
    ----------
    words : iterable of str
        The ``key=value`` words; see `knightadder.workshop.openings.load_book` for their meanings and defaults.
    chess960 : bool
        Whether castling is that of Chess960.

    Returns
    -------
    Book
        The book.

    Raises
    ------
    OptionError
        If a word is wrong, or the file is unreadable or empty.
    """
    from knightadder.workshop.openings import FORMATS, ORDERS, load_book

    values = KeyValues.read(words, _KEYS, "--openings")
    return load_book(
        Path(values["file"]) if "file" in values else None,
        values.choice("format", FORMATS, None),
        values.choice("order", ORDERS, ORDERS[0]),
        values.whole("plies", None, 1),
        values.whole("seed", 1),
        chess960,
    )
