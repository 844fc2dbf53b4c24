"""Names of openings, with their codes in the Encyclopaedia of Chess Openings (ECO). A name belongs to a position,
whatever the move order. `tools/make_opening_names.py` makes the table.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from dataclasses import dataclass
from importlib import resources
from typing import TypeAlias

import chess

# The key of a position: like an EPD, it omits the move counters, but it is faster to compute.
_Key: TypeAlias = tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Opening:
    """An opening: its ECO code, ``A00`` to ``E99``, and its name, such as ``Sicilian Defense: Najdorf Variation``."""

    eco: str
    name: str

    def tags(self) -> tuple[str, str]:
        """Return the family and the variation as tags of Lichess, such as ``Sicilian_Defense_Najdorf_Variation``."""
        family, _, rest = self.name.partition(": ")
        variation = rest.split(",")[0]
        return _tag(family), _tag(f"{family} {variation}") if variation else f"{_tag(family)}_Other_variations"


def _tag(name: str) -> str:
    plain = unicodedata.normalize("NFD", name).encode("ascii", "ignore").decode()
    return "_".join(re.sub(r"[^\w\s-]", "", plain).split())


def named_lines() -> list[tuple[Opening, str]]:
    """Return the package's table: each opening, with its moves from the start position in algebraic notation."""
    text = resources.files("knightadder").joinpath("data", "openings.tsv").read_text("utf-8")
    rows = [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
    return [(Opening(eco, name), moves) for eco, name, moves in rows]


def find_opening(board: chess.Board) -> Opening | None:
    """Return the opening of a game's last named position; None if no position has a name. A Chess960 game, or a game
    with a different start position, has an opening only if it reaches a position of the table.
    """
    names = _names()
    past = board.copy()
    while True:
        opening = names.get(_key(past))
        if opening is not None or not past.move_stack:
            return opening
        past.pop()


def opening_at(board: chess.Board) -> Opening | None:
    """Return the opening of a single position; None if this position has no name."""
    return _names().get(_key(board))


@functools.cache
def _names() -> dict[_Key, Opening]:
    names: dict[_Key, Opening] = {}
    board = chess.Board()
    played: list[str] = []
    for opening, text in sorted(named_lines(), key=lambda line: line[1]):
        # Neighbours in this order share their first moves, which are reused, because parsing moves is slow.
        moves = text.split()
        shared = 0
        while shared < min(len(played), len(moves)) and played[shared] == moves[shared]:
            shared += 1
        for _ in played[shared:]:
            board.pop()
        for move in moves[shared:]:
            board.push_san(move)
        played = moves
        names[_key(board)] = opening
    return names


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
