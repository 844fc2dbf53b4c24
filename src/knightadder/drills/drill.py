"""A drill: a position and its right moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import chess

Kind: TypeAlias = Literal["mistake", "repertoire"]


@dataclass(frozen=True, slots=True)
class Drill:
    """A position to play on the board, with data about it.

    Attributes
    ----------
    kind : str
        ``mistake`` for a mistake in a game, ``repertoire`` for a position of a repertoire.
    fen : str
        The position.
    good : tuple of tuple of str
        The right moves in UCI notation, each followed by the moves of a line. The first line is shown as the solution.
    theme : str
        The kind of mistake, in a few words.
    opening : str
        The family of the opening.
    chess960 : bool
        Whether the game is Chess960.
    before : str
        The moves that lead to the position, in algebraic notation.
    played : str
        The move played in the game, in UCI notation.
    about, link : str
        A description of the game, and the game's web address.
    comment : str
        A comment on the right move.
    """

    kind: Kind
    fen: str
    good: tuple[tuple[str, ...], ...]
    theme: str
    opening: str
    chess960: bool = False
    before: str = ""
    played: str = ""
    about: str = ""
    link: str = ""
    comment: str = ""

    def board(self) -> chess.Board:
        """Return a new board with the position."""
        return chess.Board(self.fen, chess960=self.chess960)


def position_key(board: chess.Board) -> str:
    """Return a position without its move counters."""
    return f"{board.fen().rsplit(' ', 2)[0]}{' Chess960' if board.chess960 else ''}"
