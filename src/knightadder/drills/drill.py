"""A drill: a position, and the moves that are right in it."""

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
        ``mistake``: a mistake of a game; ``repertoire``: a position of a repertoire.
    fen : str
        The position.
    good : tuple of tuple of str
        The right moves, each as the line that it begins, in UCI notation. The first line is shown as the solution.
    theme : str
        In a few words, the kind of the mistake.
    opening : str
        The family of the opening.
    chess960 : bool
        Whether the game is Chess960.
    before : str
        The moves that lead to the position, in algebraic notation.
    played : str
        The move played in the game, in UCI notation.
    about, link : str
        The game, in words, and its address.
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
