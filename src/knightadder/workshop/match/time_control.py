"""The limits of an engine, and the clock of one side in a game.
Limits are written as in match programs: ``tc=40/60+0.6``, ``tc=1:30+0.5``, ``st=0.5``, ``nodes=20000``, ``depth=8``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from knightadder.engine.errors import OptionError

#: Default time in seconds after which a silent engine is killed; in a search, it counts from the end of the time limit.
PATIENCE = 60

_SECONDS = r"(\d+(?:\.\d+)?|\.\d+)"
_TIME_CONTROL = re.compile(rf"(?:(\d+|inf)/)?(?:{_SECONDS}:)?{_SECONDS}(?:\+{_SECONDS})?", re.ASCII)
_LONGEST = 10_000_000  # maximum time in seconds: about four months
_MOST_MOVES = 10_000


@dataclass(frozen=True, slots=True)
class TimeControl:
    """A time control in seconds: the base time, and an increment per move."""

    base: float
    increment: float = 0.0
    moves: int | None = None  # after this many moves, the base time is added again; None if it is for the whole game

    @classmethod
    def parse(cls, text: str) -> TimeControl:
        """Return a time control, ``moves/base+increment``, read as cutechess reads it; OptionError if it is invalid.

        The moves and the increment may be left out; ``inf`` or 0 moves means that the time is for the whole game. The
        base time is in seconds, or in minutes and seconds: ``1:30``.
        """
        match = _TIME_CONTROL.fullmatch(text)
        if match:
            base, increment = 60 * float(match[2] or 0) + float(match[3]), float(match[4] or 0)
            moves = 0.0 if match[1] in (None, "inf") else float(match[1])
            if 0 < base <= _LONGEST and increment <= _LONGEST and moves <= _MOST_MOVES:
                return cls(base, increment, int(moves) or None)
        raise OptionError(
            f"tc={text}: expected [MOVES/]SECONDS[+INCREMENT] or [MOVES/]MINUTES:SECONDS[+INCREMENT], "
            "such as 8+0.08, 40/60 or 1:30+0.5"
        )

    def scaled(self, factor: float) -> TimeControl:
        """Return the time control with its times multiplied, and rounded to milliseconds."""
        return TimeControl(round(self.base * factor, 3), round(self.increment * factor, 3), self.moves)

    def __str__(self) -> str:
        period = f"{self.moves}/" if self.moves else ""
        return f"{period}{self.base:g}+{self.increment:g}" if self.increment else f"{period}{self.base:g}"


@dataclass(frozen=True, slots=True)
class Allowance:
    """The limits of an engine: a game clock, and the seconds, nodes and plies per move."""

    time_control: TimeControl | None = None
    move_time: float | None = None
    nodes: int | None = None
    depth: int | None = None
    margin: float = 0.05  # the flag falls when the clock is more than this many seconds below zero
    node_time: int = 0  # number of nodes that count as a millisecond on the clock; 0 for real time

    @property
    def timed(self) -> bool:
        """Whether there is a limit in real time, so that games cannot be repeated exactly."""
        return not self.node_time and (self.time_control is not None or self.move_time is not None)

    def scaled(self, factor: float) -> Allowance:
        """Return the limits, with all limits in real time multiplied except the margin."""
        if self.node_time:
            return self
        control, move_time = self.time_control, self.move_time
        return replace(
            self,
            time_control=control and control.scaled(factor),
            move_time=move_time and max(round(move_time * factor, 3), 0.001),
        )

    def __str__(self) -> str:
        """Return the limits in the format of the strength log."""
        parts = []
        if self.time_control:
            parts.append(str(self.time_control))
        if self.move_time:
            parts.append(f"{self.move_time:g} s/move")
        if self.nodes:
            parts.append(f"N={self.nodes}")
        if self.depth:
            parts.append(f"depth {self.depth}")
        if self.node_time:
            parts.append(f"by {self.node_time} nodes/ms")
        return " ".join(parts)


class SideClock:
    """The clock of one side in one game."""

    def __init__(self, allowance: Allowance) -> None:
        self._allowance = allowance
        control = allowance.time_control
        self._left = control.base if control else 0.0
        self._moves_left = control.moves if control else None
        self._own = ""
        if allowance.move_time:
            self._own += f" movetime {round(allowance.move_time * 1000)}"
        if allowance.nodes:
            self._own += f" nodes {allowance.nodes}"
        if allowance.depth:
            self._own += f" depth {allowance.depth}"

    @property
    def allowed(self) -> float | None:
        """Seconds that the next move may take; None without a clock."""
        times = [self._left] if self._allowance.time_control else []
        if self._allowance.move_time:
            times.append(self._allowance.move_time)
        return min(times, default=None)

    @property
    def moves_left(self) -> int | None:
        """Moves until the base time is added again; None if the time is for the whole game."""
        return self._moves_left

    def reading(self, colour: str) -> str:
        """Return the UCI arguments that tell both sides this clock, or an empty text; `colour` is ``w`` or ``b``."""
        control = self._allowance.time_control
        if control is None:
            return ""
        return f" {colour}time {max(1, int(self._left * 1000))} {colour}inc {round(control.increment * 1000)}"

    def own(self) -> str:
        """Return the UCI arguments that only this side gets: moves to the next time control, and limits per move."""
        return (f" movestogo {self._moves_left}" if self._moves_left else "") + self._own

    def charge(self, seconds: float, nodes: int = 0) -> float | None:
        """Subtract the time of a move, in seconds or by its nodes, and return the seconds left. Below -`margin`, the
        flag has fallen.
        """
        if self._allowance.node_time:
            seconds = nodes / self._allowance.node_time / 1000
        allowed = self.allowed
        control = self._allowance.time_control
        if control:
            self._left = max(self._left - seconds, 0.0) + control.increment
            if self._moves_left:
                self._moves_left -= 1
                if not self._moves_left:
                    self._moves_left = control.moves
                    self._left += control.base
        return None if allowed is None else allowed - seconds
