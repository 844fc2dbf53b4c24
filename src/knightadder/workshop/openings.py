"""Openings of a match: positions of an EPD file, lines of a PGN file, or the short lines that come with the package."""

from __future__ import annotations

import hashlib
import io
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import chess
import chess.pgn

from knightadder.engine.errors import OptionError, PositionError
from knightadder.openings import named_lines
from knightadder.workshop.epd import split_epd

FORMATS = ("epd", "pgn")
ORDERS = ("random", "sequential")


@dataclass(frozen=True, slots=True)
class BookLine:
    """Where a game begins.

    Attributes
    ----------
    fen : str
        A position.
    moves : tuple of str
        Moves played from there, in UCI notation; the engines are told of them.
    name : str
        What the opening is called, if it has a name.
    """

    fen: str = chess.STARTING_FEN
    moves: tuple[str, ...] = ()
    name: str = ""

    def board(self, chess960: bool = False) -> chess.Board:
        """Give the position after the moves, with its history."""
        board = chess.Board(self.fen, chess960=chess960)
        for move in self.moves:
            board.push_uci(move)
        return board


class Book:
    """A collection of openings, in the order in which they are played.

    Only those that are played are read and checked.

    Parameters
    ----------
    entries : sequence of str
        What describes each: a line of EPD, a game of a PGN file, or name, tab and moves.
    form : str
        ``epd``, ``pgn`` or ``tsv``.
    name : str
        For messages and tables.
    plies : int, optional
        How many plies of a game's or line's moves to play at most; all by default.
    chess960 : bool
        Whether castling is that of Chess960.

    Attributes
    ----------
    digest : str
        Tells books apart: depends on the entries and their order.
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
        """Tell how many there are."""
        return len(self._entries)

    def opening(self, number: int) -> BookLine:
        """Read an opening.

        Parameters
        ----------
        number : int
            From 0 on; past the end it begins again.

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
        if not board.is_valid():
            raise PositionError(f"{self.name}: the position is not legal: {entry.splitlines()[0][:80]}")
        if board.is_game_over():
            raise PositionError(f"{self.name}: the game is over already: {entry.splitlines()[0][:80]}")
        return opening

    def check(self, count: int) -> None:
        """Read the first openings, so that a bad one is found before the games, and not in the middle of the night.

        Parameters
        ----------
        count : int
            How many; all, if there are no more.

        Raises
        ------
        PositionError
            If one is bad, see `opening`.
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
            board = game.board()
            moves = list(game.mainline_moves())[: self._plies]
            name = game.headers.get("Opening", "")
            return BookLine(board.fen(), tuple(move.uci() for move in moves), name)
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
    """Load a book.

    Parameters
    ----------
    file : Path, optional
        An EPD or PGN file; the package's own lines by default, or for Chess960 its start positions.
    form : str, optional
        ``epd`` or ``pgn``; by default as the file's name ends.
    order : str
        ``random`` or ``sequential``.
    plies : int, optional
        How many plies of a game's moves to play at most.
    seed : int
        Of the random order.
    chess960 : bool
        Whether castling is that of Chess960.

    Returns
    -------
    Book
        The book.

    Raises
    ------
    OptionError
        If the file cannot be read or has nothing in it.
    """
    if file is not None:
        form = form or ("pgn" if file.suffix.lower() == ".pgn" else "epd")
        try:
            text = file.read_text(encoding="utf-8-sig", errors="replace")
        except OSError as error:
            raise OptionError(f"cannot read {file}: {error.strerror}") from None
        entries, name = _split(text, form), file.stem
    elif chess960:
        entries = [chess.Board.from_chess960_pos(number).fen() for number in range(960)]
        form, name = "epd", "chess960"
    else:
        lines = [f"{line.opening.name}\t{line.moves}" for line in named_lines() if line.in_book]
        # In the order of the names, by which the logs of matches know the book.
        entries, form, name = sorted(lines), "tsv", "built-in"
    if not entries:
        raise OptionError(f"there is no opening in {file}")
    if order == "random":
        random.Random(seed).shuffle(entries)
    return Book(entries, form, name, plies, chess960)


def _split(text: str, form: str) -> list[str]:
    """Split a file into its entries."""
    if form == "pgn":  # a game begins with its headers, after an empty line
        games = re.split(r"\n\s*\n(?=\[)", text.replace("\r\n", "\n").strip())
        return [game for game in games if game.strip()]
    return [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
