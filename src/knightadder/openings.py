"""Names of openings, with their codes in the Encyclopaedia of Chess Openings (ECO).

A name belongs to a position, so lines that transpose to it have the same name. A position between two names of a line
in the table has the first of them: so Byrne - Fischer, 1956, becomes a Grünfeld Defense with 5...d5.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from dataclasses import dataclass
from importlib import resources
from typing import TypeAlias

import chess

# Identifies a position without its move counters, like an EPD, but faster to compute.
_Key: TypeAlias = tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Opening:
    """An opening.

    Attributes
    ----------
    eco : str
        Its code, ``A00`` to ``E99``.
    name : str
        Its name, such as ``Sicilian Defense: Najdorf Variation``.
    """

    eco: str
    name: str


@dataclass(frozen=True, slots=True)
class NamedLine:
    """A line of the package's table.

    Attributes
    ----------
    opening : Opening
        Name of the position at its end.
    moves : str
        Moves from the start position, in algebraic notation, with a space between them.
    in_book : bool
        Whether matches may begin with it (see `knightadder.workshop.openings`): a short search found it balanced.
    """

    opening: Opening
    moves: str
    in_book: bool


def named_lines() -> list[NamedLine]:
    """Return the table of the package, in its order: by code, name and moves."""
    text = resources.files("knightadder").joinpath("data", "openings.tsv").read_text("utf-8")
    rows = [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
    return [NamedLine(Opening(eco, name), moves, "book" in rest) for eco, name, moves, *rest in rows]


def find_opening(board: chess.Board) -> Opening | None:
    """Return the opening of a game.

    Parameters
    ----------
    board : chess.Board
        A position with the moves that led to it.

    Returns
    -------
    Opening or None
        The opening of the last position of the game that has a name. A game from another start position, or of
        Chess960, has an opening only if it reaches a position of the table.
    """
    names = _names()
    past = board.copy()
    while True:
        opening = names.get(_key(past))
        if opening is not None or not past.move_stack:
            return opening
        past.pop()


@functools.cache
def _names() -> dict[_Key, Opening]:
    """Return the openings by position.

    A position without a name of its own that a line of the table passes has the last name before it, unless lines with
    different names pass it.
    """
    names: dict[_Key, Opening] = {}
    board = chess.Board()
    played: list[str] = []
    keys: list[_Key] = []  # after each move of the line
    paths = []
    for line in sorted(named_lines(), key=lambda line: line.moves):
        # Neighbours in this order share their first moves. Reuse these, since reading moves is slow.
        moves = line.moves.split()
        shared = 0
        while shared < min(len(played), len(moves)) and played[shared] == moves[shared]:
            shared += 1
        for _ in played[shared:]:
            board.pop()
        del keys[shared:]
        for move in moves[shared:]:
            board.push_san(move)
            keys.append(_key(board))
        played = moves
        names[keys[-1]] = line.opening
        paths.append(tuple(keys))
    passed: dict[_Key, set[Opening | None]] = defaultdict(set)
    for path in paths:
        opening = None
        for key in path:
            opening = names.get(key, opening)
            passed[key].add(opening)
    return {key: opening for key, (opening, *others) in passed.items() if opening is not None and not others}


def _key(board: chess.Board) -> _Key:
    return (
        board.pawns,
        board.knights,
        board.bishops,
        board.rooks,
        board.queens,
        board.kings,
        board.occupied_co[chess.WHITE],
        board.turn,
        board.clean_castling_rights(),
        board.ep_square if board.has_legal_en_passant() else None,
    )
