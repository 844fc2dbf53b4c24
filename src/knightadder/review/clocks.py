"""Clocks and times of a game's moves, from the comments ``[%clk]`` and ``[%emt]`` and the tag TimeControl."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice

import chess.pgn

# Seconds, or moves and seconds such as 40/9000, and an optional increment. Only the first of several periods is read.
_CONTROL = re.compile(r"(?:\d+/)?(\d+(?:\.\d+)?)(?:\+(\d+(?:\.\d+)?))?(?::.*)?")
_MOST_MINUTES = 120  # maximum initial time that may be in minutes
_ROUNDING = 1.0  # a clock may seem to gain up to this many seconds, because clocks are written in whole seconds


@dataclass(frozen=True, slots=True)
class MoveTime:
    """The time spent on a move, and the mover's clock before and after it, all in seconds; None if unknown."""

    before: float | None
    after: float | None
    spent: float | None


def time_control(text: str) -> tuple[float, float] | None:
    """Return the initial time and the increment, in seconds, from a tag TimeControl; None if the tag has none."""
    match = _CONTROL.fullmatch(text.strip())
    return (float(match[1]), float(match[2] or 0)) if match else None


def is_in_minutes(base: float, increment: float, clock: float | None) -> bool:
    """Return whether an initial time is probably in minutes, as in 90+30. `clock` is the highest of the first clocks.
    If there are no clocks, a large increment tells.
    """
    if clock is None:
        return 0 < base <= _MOST_MINUTES and increment >= base / 4
    return clock > base + increment + _ROUNDING


def control_of(game: chess.pgn.Game) -> tuple[float | None, float]:
    """Return the initial time and the increment of a game, in seconds, from its tag TimeControl. The initial time is
    None if it is unknown or in minutes.
    """
    base, increment = time_control(game.headers.get("TimeControl", "")) or (None, 0.0)
    clocks = [clock for node in islice(game.mainline(), 2) if (clock := node.clock()) is not None]
    if base is not None and is_in_minutes(base, increment, max(clocks, default=None)):
        base = None
    return base, increment


def move_times(game: chess.pgn.Game) -> list[MoveTime]:
    """Return the times of the main line's moves, as written in the game, or else computed from clocks and increment."""
    base, increment = control_of(game)
    clocks: dict[bool, float | None] = {True: base, False: base}
    moved: set[bool] = set()
    found = []
    mover = not game.turn()
    for node in game.mainline():
        mover = not mover  # node.turn() would replay all earlier moves
        before, after, spent = clocks[mover], node.clock(), node.emt()
        if spent is None and before is not None and after is not None:
            # Some clocks, such as Lichess's, add no increment to the first move; a clock that has gained time does.
            difference = before - after + (increment if mover in moved or after > before else 0.0)
            # A greater gain means that a new period has begun.
            spent = max(0.0, difference) if difference >= -_ROUNDING else None
        found.append(MoveTime(before, after, spent))
        clocks[mover] = after
        moved.add(mover)
    return found
