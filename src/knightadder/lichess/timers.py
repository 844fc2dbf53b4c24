"""The clock, waiting, and delays between attempts."""

import random
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from time import monotonic
from typing import TypeVar

T = TypeVar("T")


class Timer:
    """The real time; tests may pass a class with the same methods, in which time runs faster."""

    def now(self) -> float:
        """Return the time in seconds since an arbitrary moment."""
        return monotonic()

    def wait(self, event: threading.Event, seconds: float) -> bool:
        """Wait `seconds`, or until the event is set; return whether it is set."""
        return event.wait(seconds)

    def get(self, queue: "SimpleQueue[T]", seconds: float | None) -> T | None:
        """Take an item from a queue; None if the queue stays empty for `seconds`."""
        try:
            return queue.get(timeout=seconds)
        except Empty:
            return None


class Backoff:
    """Exponential backoff with jitter: each wait is about twice as long as the one before, up to `most` seconds.
    Each wait is drawn from the upper half of its range, so that clients that failed together retry at different times.
    """

    def __init__(self, first: float = 0.5, most: float = 60.0, draw: Callable[[], float] = random.random) -> None:
        self._first, self._most, self._draw = first, most, draw
        self._failures = 0

    def next(self) -> float:
        """Return the seconds to wait after another failure."""
        longest = min(self._first * 2.0 ** min(self._failures, 30), self._most)
        self._failures += 1
        return longest * (1 + self._draw()) / 2

    def reset(self) -> None:
        """Start again with the first wait, after a success."""
        self._failures = 0
