"""The answers of the opening explorer: a move that was played in a position, and a game of an index."""

from __future__ import annotations

from dataclasses import dataclass

import chess

from knightadder.library.frames import Cell, Tabular


@dataclass(frozen=True, slots=True)
class ExplorerMove(Tabular):
    """A move that was played in a position, with the results of the games.

    Attributes
    ----------
    move : chess.Move
    san : str
        The move in standard algebraic notation.
    white, draws, black : int
        Numbers of games that White won, that were drawn, and that Black won.
    rating : int or None
        Average Elo rating of the players who chose the move; ``None`` if none of them has one.
    performance : int or None
        The performance rating of these players, by Elo's formula, if all opponents have the average rating of the rated
        ones; ``None`` without ratings, or if they won or lost all games.
    last : str or None
        Date when the move was last played, such as ``2024-03-15`` or ``2024``; ``None`` if it is unknown.
    """

    move: chess.Move
    san: str
    white: int
    draws: int
    black: int
    rating: int | None
    performance: int | None
    last: str | None

    @property
    def games(self) -> int:
        """The number of games."""
        return self.white + self.draws + self.black

    @property
    def score(self) -> float:
        """White's average points, from 0 to 1."""
        return (self.white + self.draws / 2) / self.games

    def to_dict(self) -> dict[str, Cell]:
        """Return the move as plain values: the attributes by name, with the move in UCI notation."""
        return {
            "move": self.move.uci(),
            "san": self.san,
            "games": self.games,
            "white": self.white,
            "draws": self.draws,
            "black": self.black,
            "score": self.score,
            "rating": self.rating,
            "performance": self.performance,
            "last": self.last,
        }


@dataclass(frozen=True, slots=True)
class ExplorerGame(Tabular):
    """A game of an index, by its headers.

    Attributes
    ----------
    number : int
        The number of the game in the index, which is the argument of `Explorer.pgn`.
    white, black : str
        The players; ``?`` if not known.
    white_elo, black_elo : int or None
        The players' Elo ratings.
    result : str
        ``1-0``, ``1/2-1/2`` or ``0-1``.
    date : str or None
        ``2024-03-15``, ``2024-03`` or ``2024``.
    speed : str or None
        One of the speeds of `GameFilter`.
    event, site : str
        The headers with these names; ``?`` if not known.
    ply : int or None
        In answers of `Explorer.find`: the number of moves of both sides before the position that was found.
    move : int or None
        In the same answers: the number of the next move in that position, as in its FEN.
    """

    number: int
    white: str
    black: str
    white_elo: int | None
    black_elo: int | None
    result: str
    date: str | None
    speed: str | None
    event: str
    site: str
    ply: int | None = None
    move: int | None = None

    def to_dict(self) -> dict[str, Cell]:
        """Return the attributes by name."""
        return {name: getattr(self, name) for name in self.__slots__}
