"""A drill: a position and its right moves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import Literal, TypeAlias

import chess

Kind: TypeAlias = Literal["mistake", "repertoire"]

_SHOWN_PLIES = 7  # maximum length, in plies, of a shown line that begins with a right move


@dataclass(frozen=True, slots=True)
class Drill:
    """A position to play on the board, with data about it."""

    kind: Kind
    fen: str
    good: tuple[tuple[str, ...], ...]  # each right move (UCI) with a line after it; the first is the solution
    theme: str  # the kind of mistake, in a few words
    opening: str  # the family of the opening
    chess960: bool = False
    before: str = ""  # the moves that lead to the position, in algebraic notation
    played: str = ""  # the move played in the game, in UCI notation
    about: str = ""  # description of the game
    link: str = ""  # web address of the game
    comment: str = ""  # comment on the right move

    def board(self) -> chess.Board:
        """Return a new board with the position."""
        return chess.Board(self.fen, chess960=self.chess960)


def shown_line(board: chess.Board, moves: Iterable[chess.Move]) -> tuple[str, ...]:
    """Return the line to show with a right move, in UCI notation: moves from a position, up to a null move, cut so that
    the side that begins also makes the last move.
    """
    board, line = board.copy(stack=False), list[str]()
    for move in islice(takewhile(bool, moves), _SHOWN_PLIES):
        line.append(board.uci(move))
        board.push(move)
    return tuple(line[: len(line) - (len(line) + 1) % 2])


def position_key(board: chess.Board) -> str:
    """Return a position without its move counters."""
    return f"{board.fen().rsplit(' ', 2)[0]}{' Chess960' if board.chess960 else ''}"
