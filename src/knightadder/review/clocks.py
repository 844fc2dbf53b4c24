"""Clocks and times of the moves of a game, from its comments ``[%clk]`` and ``[%emt]`` and its tag TimeControl."""

from __future__ import annotations

import re
from dataclasses import dataclass

import chess.pgn

# Seconds, or moves in seconds; then perhaps an increment. Only the first of several periods is read.
_CONTROL = re.compile(r"(?:\d+/)?(\d+(?:\.\d+)?)(?:\+(\d+(?:\.\d+)?))?(?::.*)?")
_ROUNDING = 1.0  # seconds by which a clock that is written in whole seconds may seem to have gained


@dataclass(frozen=True, slots=True)
class MoveTime:
    """The time of a move in seconds, and its side's clock before and after the move; None where unknown."""

    before: float | None
    after: float | None
    spent: float | None


def time_control(text: str) -> tuple[float, float] | None:
    """Return the initial time and the increment, in seconds, of a tag TimeControl; None if it has no such times."""
    match = _CONTROL.fullmatch(text.strip())
    return (float(match[1]), float(match[2] or 0)) if match else None


def move_times(game: chess.pgn.Game) -> list[MoveTime]:
    """Return the times of the moves of a game's main line.

    The time of a move is the one in the game, or otherwise the difference of the side's clocks with the increment.
    Servers add no increment to the first move of a side.
    """
    base, increment = time_control(game.headers.get("TimeControl", "")) or (None, 0.0)
    clocks: dict[bool, float | None] = {True: base, False: base}
    moved: set[bool] = set()
    found = []
    mover = not game.turn()
    for node in game.mainline():
        mover = not mover  # node.turn() would go through all earlier moves
        before, after, spent = clocks[mover], node.clock(), node.emt()
        if spent is None and before is not None and after is not None:
            difference = before - after + (increment if mover in moved else 0.0)
            # A greater gain means that a new period has begun.
            spent = max(0.0, difference) if difference >= -_ROUNDING else None
        found.append(MoveTime(before, after, spent))
        clocks[mover] = after
        moved.add(mover)
    return found
