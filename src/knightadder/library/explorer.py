"""The class `Explorer`: answers from an index of games, which `knightadder book index` makes.

The index is an SQLite database, whose schema is here because the reader and the writer (`knightadder.books.index`)
share it. All games with the same move in a position share one row, so an answer is one look-up, whatever the number of
games.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import chess
import chess.polyglot

from knightadder.closing import Closing
from knightadder.engine.book import encode
from knightadder.engine.errors import OptionError
from knightadder.files import reading
from knightadder.foreign import NotNegative, converted, parse_whole
from knightadder.library.boards import Position, board_of
from knightadder.library.frames import Cell, Tabular

APPLICATION = 0x4B41_4258  # the file's application_id in SQLite: "KABX"
VERSION = 1  # version of the schema, in the file's user_version
MOST_GAMES = 5  # maximum number of games to store for each move, and to show for each position

# `key` comes from `key_of`, `move` from `encode`. Results are counted from White's and Black's view; `rated` counts
# the games where the player of the move has a rating, and `ratings` is the sum of these. `games` has the ids of the
# highest rated games, separated by commas.
SCHEMA = f"""
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {VERSION};
CREATE TABLE settings (plies INTEGER NOT NULL);
CREATE TABLE games (
    id INTEGER PRIMARY KEY, digest INTEGER NOT NULL UNIQUE, white TEXT NOT NULL, black TEXT NOT NULL,
    white_elo INTEGER, black_elo INTEGER, result TEXT NOT NULL, year INTEGER, event TEXT NOT NULL, site TEXT NOT NULL
);
CREATE TABLE moves (
    key INTEGER NOT NULL, move INTEGER NOT NULL, white INTEGER NOT NULL, draws INTEGER NOT NULL,
    black INTEGER NOT NULL, rated INTEGER NOT NULL, ratings INTEGER NOT NULL, year INTEGER, games TEXT NOT NULL,
    PRIMARY KEY (key, move)
) WITHOUT ROWID;
"""

# The order of games: an SQLite expression over a row of `games`.
STRENGTH = "(ifnull(white_elo, 0) + ifnull(black_elo, 0))"

_GAME = "white, black, white_elo, black_elo, result, year, event, site"

_MOVE_ROW = tuple[int, NotNegative, NotNegative, NotNegative, NotNegative, NotNegative, int | None]
_GAME_ROW = tuple[str, str, int | None, int | None, Literal["1-0", "1/2-1/2", "0-1"], int | None, str, str]


@dataclass(frozen=True, slots=True)
class ExplorerMove(Tabular):
    """A move that was played in a position, with the results of the games.

    Attributes
    ----------
    move : chess.Move
        The move.
    san : str
        The move in standard algebraic notation.
    white, draws, black : int
        Numbers of games that White won, that were drawn, and that Black won.
    rating : int or None
        Average Elo rating of the players who chose the move; ``None`` if none of them has one.
    year : int or None
        Year in which it was last played; ``None`` if it is unknown.
    """

    move: chess.Move
    san: str
    white: int
    draws: int
    black: int
    rating: int | None
    year: int | None

    @property
    def games(self) -> int:
        """The number of games."""
        return self.white + self.draws + self.black

    @property
    def score(self) -> float:
        """White's average points, from 0 to 1."""
        return (self.white + self.draws / 2) / self.games

    def to_dict(self) -> dict[str, Cell]:
        """Give the move as plain values: the attributes by name, with the move in UCI notation."""
        return {
            "move": self.move.uci(),
            "san": self.san,
            "games": self.games,
            "white": self.white,
            "draws": self.draws,
            "black": self.black,
            "score": self.score,
            "rating": self.rating,
            "year": self.year,
        }


@dataclass(frozen=True, slots=True)
class ExplorerGame(Tabular):
    """A game of an index, by its headers.

    Attributes
    ----------
    white, black : str
        The players; ``?`` if not known.
    white_elo, black_elo : int or None
        Their Elo ratings.
    result : str
        ``1-0``, ``1/2-1/2`` or ``0-1``.
    year : int or None
        Year of the game.
    event, site : str
        The headers with these names; ``?`` if not known.
    """

    white: str
    black: str
    white_elo: int | None
    black_elo: int | None
    result: str
    year: int | None
    event: str
    site: str

    def to_dict(self) -> dict[str, Cell]:
        """Give the attributes by name."""
        return {name: getattr(self, name) for name in self.__slots__}


class Explorer(Closing):
    """An opening explorer: the moves and results of an index's games in a position, whatever moves led to it.

    Several threads may share it; it can be used in a ``with`` block.

    Parameters
    ----------
    path : path
        An index that ``knightadder book index`` has made. Later changes of the file have no effect.

    Raises
    ------
    OptionError
        If the file cannot be read, or is not such an index.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        with reading(self._path), self._path.open("rb"):
            pass  # raises an error with the reason, which SQLite does not report
        # An index is only ever replaced as a whole, so SQLite needs no locks, which some folders do not allow.
        address = f"{self._path.resolve().as_uri()}?mode=ro&immutable=1"
        self._lock = threading.Lock()
        with self._reading():
            self._database = sqlite3.connect(address, uri=True, check_same_thread=False)
        try:
            self._check()
        except BaseException:
            self.close()
            raise

    def _check(self) -> None:
        """Raise an OptionError unless the file is an index of this version."""
        try:
            application, version = (
                self._database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
            )
        except sqlite3.Error:
            application = version = 0
        if application != APPLICATION:
            raise OptionError(f"{self._path} is not an index of games: make one with `knightadder book index`")
        if version != VERSION:
            raise OptionError(
                f"{self._path} has index version {version}, but this program needs version {VERSION}: "
                "make the index again"
            )

    @property
    def plies(self) -> int:
        """The number of indexed plies of each game."""
        with self._reading():
            [(plies,)] = self._select("SELECT plies FROM settings", tuple[NotNegative])
            return int(plies)

    def moves(self, position: Position) -> list[ExplorerMove]:
        """Give the moves that were played in a position.

        A game in which the position occurs several times counts once, with its last move there.

        Parameters
        ----------
        position : chess.Board or str
            A board, a FEN or ``"startpos"``.

        Returns
        -------
        list of ExplorerMove
            The moves, the most frequent first; empty if no game has reached the position.

        Raises
        ------
        PositionError
            If the argument is not a legal chess position.
        OptionError
            If the file is damaged.
        """
        board = board_of(position)
        rows = self._select(
            "SELECT move, white, draws, black, rated, ratings, year FROM moves WHERE key = ?",
            _MOVE_ROW,
            key_of(board),
        )
        legal = {encode(board, move): move for move in board.legal_moves} if rows else {}
        found = []
        for code, white, draws, black, rated, ratings, year in rows:
            if code in legal and white + draws + black:  # otherwise, two positions share a key, or the file is damaged
                move, rating = legal[code], round(ratings / rated) if rated else None
                found.append(ExplorerMove(move, board.san(move), white, draws, black, rating, year))
        return sorted(found, key=lambda each: (-each.games, each.san))

    def games(self, position: Position) -> list[ExplorerGame]:
        """Return the highest rated games that reached a position and continued from it.

        Parameters
        ----------
        position : chess.Board or str
            A board, a FEN or ``"startpos"``.

        Returns
        -------
        list of ExplorerGame
            At most five games, the highest sum of both ratings first; a missing rating counts as 0.

        Raises
        ------
        PositionError
            If the argument is not a legal chess position.
        OptionError
            If the file is damaged.
        """
        rows = self._select("SELECT games FROM moves WHERE key = ?", tuple[str], key_of(board_of(position)))
        with self._reading():
            ids = [parse_whole(name) for (names,) in rows for name in names.split(",")]
        # The ids are part of the text, because SQLite limits the number of parameters; all are whole numbers.
        wanted = ",".join(map(str, ids))
        order = f"ORDER BY {STRENGTH} DESC, id LIMIT {MOST_GAMES}"
        query = f"SELECT {_GAME} FROM games WHERE id IN ({wanted}) {order}"
        return [ExplorerGame(*row) for row in self._select(query, _GAME_ROW)]

    def _select(self, query: str, row: Any, *values: int) -> Sequence[Any]:
        """Return the rows of a query as objects of this type; OptionError if the file is damaged."""
        with self._reading():
            with self._lock:
                rows = self._database.execute(query, values).fetchall()
            return cast(Sequence[Any], converted(rows, list[row]))

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise OptionError(f"cannot read {self._path}: {error}") from None
        except ValueError:  # SQLite allows values of any type in any column
            raise OptionError(f"cannot read {self._path}: it has wrong values: make it again") from None

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._database.close()


def key_of(board: chess.Board) -> int:
    """Return Polyglot's key of a position, as a signed 64-bit number for SQLite.

    Polyglot counts a square for capturing en passant if a pawn stands beside it; here the capture must also be legal,
    as in the FEN of a position.
    """
    if board.ep_square is not None and not board.has_legal_en_passant():
        board = board.copy(stack=False)
        board.ep_square = None
    key = chess.polyglot.zobrist_hash(board)
    return key - (1 << 64) if key >> 63 else key
