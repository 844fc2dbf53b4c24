"""Openings of a match: positions of an EPD file, lines of a PGN file, or the short lines that come with the package."""

from __future__ import annotations

import hashlib
import io
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import islice
from pathlib import Path

import chess
import chess.pgn

from knightadder.engine.errors import OptionError, PositionError
from knightadder.rules import problem_of
from knightadder.runs import reading
from knightadder.workshop.epd import split_epd

FORMATS = ("epd", "pgn")
ORDERS = ("random", "sequential")


@dataclass(frozen=True, slots=True)
class BookLine:
    """The start of a game.

    Attributes
    ----------
    fen : str
        A position.
    moves : tuple of str
        Moves from there, in UCI notation; the engines receive them, too.
    name : str
        Name of the opening, if it has one.
    """

    fen: str = chess.STARTING_FEN
    moves: tuple[str, ...] = ()
    name: str = ""

    def board(self, chess960: bool = False) -> chess.Board:
        """Return the position after the moves, with its history."""
        board = chess.Board(self.fen, chess960=chess960)
        for move in self.moves:
            board.push_uci(move)
        return board


class Book:
    """A collection of openings, in the order of play.

    Only openings that are played are read and checked.

    Parameters
    ----------
    entries : sequence of str
        The openings: a line of EPD, a game of a PGN file, or name, tab and moves.
    form : str
        ``epd``, ``pgn`` or ``tsv``.
    name : str
        Name of the book, for messages and tables.
    plies : int, optional
        Maximum number of plies from a game or line; all by default.
    chess960 : bool
        Whether castling is that of Chess960.

    Attributes
    ----------
    digest : str
        Identifies the book: depends on the entries and their order.
    """

    def __init__(
        self, entries: Sequence[str], form: str, name: str, plies: int | None = None, chess960: bool = False
    ) -> None:
        self._entries = entries
        self._form = form
        self._plies = plies
        self._chess960 = chess960
        self.name = name
        self.digest = hashlib.sha256(repr((form, plies, *entries)).encode()).hexdigest()[:16]

    def __len__(self) -> int:
        """Return the number of openings."""
        return len(self._entries)

    def opening(self, number: int) -> BookLine:
        """Return an opening.

        Parameters
        ----------
        number : int
            Number of the opening, from 0; after the last, the book starts again.

        Returns
        -------
        BookLine
            The opening, in which the game is not over.

        Raises
        ------
        PositionError
            If it has no legal position, an illegal move, or no move to play.
        """
        entry = self._entries[number % len(self._entries)]
        try:
            opening = self._read(entry)
            board = opening.board(self._chess960)
        except ValueError as error:
            raise PositionError(f"{self.name}: {error}: {entry.splitlines()[0][:80]}") from None
        if problem := problem_of(board):
            raise PositionError(f"{self.name}: the position is not legal ({problem}): {entry.splitlines()[0][:80]}")
        if board.is_game_over():
            raise PositionError(f"{self.name}: the game is over already: {entry.splitlines()[0][:80]}")
        return opening

    def check(self, count: int) -> None:
        """Read the first openings, so that a bad one is found before the games start.

        Parameters
        ----------
        count : int
            Number of openings; more than there are means all.

        Raises
        ------
        PositionError
            If an opening is bad, see `opening`.
        """
        for number in range(min(count, len(self))):
            self.opening(number)

    def _read(self, entry: str) -> BookLine:
        if self._form == "epd":
            fen, _ = split_epd(entry)
            return BookLine(fen)
        if self._form == "pgn":
            game = chess.pgn.read_game(io.StringIO(entry))
            if game is None or game.errors:
                raise ValueError(str(game.errors[0]) if game else "not a game")
            # The notation of castling is that of the match, which is not always that of the game.
            fen, moves = game.board().fen(), []
            board = chess.Board(fen, chess960=self._chess960)
            for move in islice(game.mainline_moves(), self._plies):
                moves.append(board.uci(move))
                board.push(move)
            return BookLine(fen, tuple(moves), game.headers.get("Opening", ""))
        name, _, text = entry.partition("\t")
        board = chess.Board()
        for word in text.split()[: self._plies]:
            board.push_san(word)
        return BookLine(chess.STARTING_FEN, tuple(move.uci() for move in board.move_stack), name)


def load_book(
    file: Path | None = None,
    form: str | None = None,
    order: str = "random",
    plies: int | None = None,
    seed: int = 1,
    chess960: bool = False,
) -> Book:
    """Return a book.

    Parameters
    ----------
    file : Path, optional
        An EPD or PGN file; the package's own lines by default, or for Chess960 its start positions.
    form : str, optional
        ``epd`` or ``pgn``; by default the suffix of the file decides.
    order : str
        ``random`` or ``sequential``.
    plies : int, optional
        Maximum number of plies from a game.
    seed : int
        Seed of the random order.
    chess960 : bool
        Whether castling is that of Chess960.

    Returns
    -------
    Book
        The book.

    Raises
    ------
    OptionError
        If the file is unreadable or empty.
    """
    if file is not None:
        form = form or ("pgn" if file.suffix.lower() == ".pgn" else "epd")
        with reading(file):
            text = file.read_text(encoding="utf-8-sig", errors="replace")
        entries, name = _split(text, form), file.stem
    elif chess960:
        entries = [chess.Board.from_chess960_pos(number).fen() for number in range(960)]
        form, name = "epd", "chess960"
    else:
        text = resources.files("knightadder").joinpath("data", "match_openings.tsv").read_text("utf-8")
        entries, form, name = _split(text, "tsv"), "tsv", "built-in"
    if not entries:
        raise OptionError(f"there is no opening in {file}")
    if order == "random":
        random.Random(seed).shuffle(entries)
    return Book(entries, form, name, plies, chess960)


def _split(text: str, form: str) -> list[str]:
    """Return the entries of a file."""
    if form == "pgn":  # a game begins with its tags, after an empty line
        games = re.split(r"\n\s*\n(?=\[)", text.replace("\r\n", "\n").strip())
        return [game for game in games if game.strip()]
    return [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
