"""Openings of a match: positions of an EPD file, lines of a PGN file, or the short lines that come with the package."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import chess

from knightadder.engine.errors import OptionError, PositionError
from knightadder.pgn.epd import split_epd
from knightadder.pgn.game_files import text_lines, without_compression
from knightadder.pgn.games import GameText, headers_of, moves_of, parse, read_texts
from knightadder.rules import read_fen
from knightadder.text import tell

FORMATS = ("epd", "pgn")
ORDERS = ("random", "sequential")


@dataclass(frozen=True, slots=True)
class BookLine:
    """The start of a game: a position, and the moves from it in UCI notation; the engines receive both.
    `notes` has a line for each impossible castling right or en passant square that was left out of the position.
    """

    fen: str = chess.STARTING_FEN
    moves: tuple[str, ...] = ()
    name: str = ""
    notes: tuple[str, ...] = ()

    def board(self, chess960: bool = False) -> chess.Board:
        """Return the position after the moves, with its history."""
        board = chess.Board(self.fen, chess960=chess960)
        for move in self.moves:
            board.push_uci(move)
        return board


class OpeningBook:
    """A collection of openings, in the order of play; only openings that are played are read and checked.

    Each entry is a line of EPD, a game of a PGN file, or a line with a name, a tab and moves, depending on `form`:
    ``epd``, ``pgn`` or ``tsv``. `file` is the name in messages (default: the book's name); `plies` limits the moves of
    a game or line. `digest` identifies the entries and their order.
    """

    def __init__(
        self,
        entries: Sequence[GameText],
        form: str,
        name: str,
        plies: int | None = None,
        chess960: bool = False,
        file: str | None = None,
    ) -> None:
        self._entries = entries
        self._form = form
        self._plies = plies
        self._chess960 = chess960
        self.name = name
        self._file = name if file is None else file
        texts = (entry.text for entry in entries)
        self.digest = hashlib.sha256(repr((form, plies, *texts)).encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def __len__(self) -> int:
        return len(self._entries)

    def opening(self, number: int) -> BookLine:
        """Return the opening with an index, from 0. After the last opening, the book starts again."""
        entry = self._entries[number % len(self._entries)]
        try:
            opening = self._read(entry)
            if not self._chess960 and chess.Board(opening.fen).has_chess960_castling_rights():
                raise ValueError("the castling rights are possible only in Chess960")
            if opening.board(self._chess960).is_game_over():
                raise ValueError("the game is already over")
        except ValueError as error:
            raise PositionError(f"{self._place(entry)}: {error}") from None
        return opening

    def _place(self, entry: GameText) -> str:
        return entry.place(self._file) if self._form == "pgn" else f"{self._file}, line {entry.line}"

    def check(self, count: int) -> None:
        """Read the first openings, so that a bad opening is found before the games start: PositionError, see `opening`.
        Print a note about each impossible castling right or en passant square that was left out of a position.
        """
        for number in range(min(count, len(self))):
            for note in self.opening(number).notes:
                tell(f"{self._place(self._entries[number])}: {note}")

    def _read(self, entry: GameText) -> BookLine:
        if self._form == "pgn":
            return self._read_game(entry)
        if self._form == "epd":
            fen, _ = split_epd(entry.text)
            board, notes = read_fen(fen)
            return BookLine(board.fen(en_passant="fen") if notes else fen, notes=notes)
        name, _, text = entry.text.partition("\t")
        board = chess.Board()
        for word in text.split()[: self._plies]:
            board.push_san(word)
        return BookLine(chess.STARTING_FEN, tuple(move.uci() for move in board.move_stack), name)

    def _read_game(self, text: GameText) -> BookLine:
        game = parse(text, moveless=True)
        if game is None or (game.next() is None and "FEN" not in game.headers):
            raise ValueError("no moves")
        # Castling is written as the match requires, which may differ from the PGN game.
        fen, moves = game.board().fen(), []
        board = chess.Board(fen, chess960=self._chess960)
        for move in moves_of(game)[: self._plies]:
            moves.append(board.uci(move))
            board.push(move)
        return BookLine(fen, tuple(moves), game.headers.get("Opening", ""), tuple(game.notes))


def load_book(
    file: Path | None = None,
    form: str | None = None,
    order: str = "random",
    plies: int | None = None,
    seed: int = 1,
    chess960: bool = False,
) -> OpeningBook:
    """Return a book: an EPD or PGN file, which may be compressed; OptionError if it is unreadable or empty.

    Without a file, the book consists of the package's own lines, or of the start positions of Chess960. `form` is
    ``epd`` or ``pgn`` (by default, the suffix decides). `order` is ``random`` (with a seed) or ``sequential``. `plies`
    limits the plies of a game.
    """
    if file is not None:
        plain = without_compression(file)
        form = form or ("pgn" if plain.suffix.lower() == ".pgn" else "epd")
        entries = _games(file) if form == "pgn" else numbered(text_lines(file))
        name = plain.stem
    elif chess960:
        entries = numbered(chess.Board.from_chess960_pos(number).fen() for number in range(960))
        form, name = "epd", "chess960"
    else:
        text = resources.files("knightadder").joinpath("data", "match_openings.tsv").read_text("utf-8")
        entries, form, name = numbered(text.splitlines()), "tsv", "built-in"
    if not entries:
        raise OptionError(f"there is no opening in {file}")
    if order == "random":
        random.Random(seed).shuffle(entries)
    return OpeningBook(entries, form, name, plies, chess960, None if file is None else str(file))


def _games(file: Path) -> list[GameText]:
    """Return the games of a PGN file, without text between games."""
    return [text for text in read_texts(file) if headers_of(text) is not None]


def numbered(lines: Iterable[str]) -> list[GameText]:
    """Return the lines with their numbers, without empty lines and comments."""
    texts = ((number, line.strip()) for number, line in enumerate(lines, 1))
    return [GameText(number, number, text) for number, text in texts if text and not text.startswith("#")]
