"""The chess clock of a game: time for each side, and an increment after each move (Fischer's clock)."""

from __future__ import annotations

import time
from collections.abc import Callable

import chess


class ChessClock:
    """The clocks of both sides, of which at most one runs. Times are in seconds; tests may pass a time source."""

    def __init__(self, initial: float, increment: float, now: Callable[[], float] = time.monotonic) -> None:
        self.initial = initial
        self.increment = increment
        self.running: chess.Color | None = None
        self._now = now
        self._seconds = {chess.WHITE: initial, chess.BLACK: initial}
        self._since = 0.0

    def __str__(self) -> str:
        """Return the clock in the format of PGN's tag TimeControl."""
        return f"{self.initial:g}+{self.increment:g}"

    def remaining(self, color: chess.Color) -> float:
        """Return the seconds that this side has left, at least zero, in whole milliseconds, as in PGN."""
        used = self._now() - self._since if self.running == color else 0.0
        return round(max(self._seconds[color] - used, 0.0), 3)

    def start(self, color: chess.Color) -> None:
        """Start this side's clock and stop the other's."""
        self.stop()
        self.running = color
        self._since = self._now()

    def stop(self) -> None:
        """Stop both clocks."""
        if self.running is not None:
            self._seconds[self.running] = self.remaining(self.running)
            self.running = None

    def press(self) -> float:
        """End the move of the side whose clock runs: it gets the increment, and the opponent's clock starts.
        Return the seconds that the move took; 0 if no clock runs.
        """
        if self.running is None:
            return 0.0
        color = self.running
        before = self._seconds[color]
        self.stop()
        used = round(before - self._seconds[color], 3)
        self._seconds[color] += self.increment
        self.start(not color)
        return used

    def set(self, color: chess.Color, seconds: float) -> None:
        """Set this side's clock, for example after a move is taken back."""
        self._seconds[color] = seconds
        if self.running == color:
            self._since = self._now()
