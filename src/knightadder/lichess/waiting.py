"""The time, waiting, and how long to wait before another attempt."""

import random
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from time import monotonic
from typing import TypeVar

T = TypeVar("T")


class Timer:
    """The time as it is; another class with these three methods may let it run faster."""

    def now(self) -> float:
        """Give the time in seconds, from some moment on."""
        return monotonic()

    def wait(self, event: threading.Event, seconds: float) -> bool:
        """Wait so many seconds, or until the event is set; say whether it is."""
        return event.wait(seconds)

    def get(self, queue: "SimpleQueue[T]", seconds: float | None) -> T | None:
        """Take something from a queue; ``None`` if it has been empty for so many seconds."""
        try:
            return queue.get(timeout=seconds)
        except Empty:
            return None


class Backoff:
    """Exponential backoff with jitter: each wait is about twice as long as the one before.

    A wait is drawn from the upper half of its range, so that clients which failed together do not come back together.

    Parameters
    ----------
    first, most : float
        Upper ends of the first wait, and of any, in seconds.
    draw : callable
        Gives a number from 0 to 1.
    """

    def __init__(self, first: float = 0.5, most: float = 60.0, draw: Callable[[], float] = random.random) -> None:
        self._first, self._most, self._draw = first, most, draw
        self._failures = 0

    def next(self) -> float:
        """Give the seconds to wait after one more failure."""
        longest = min(self._first * 2.0 ** min(self._failures, 30), self._most)
        self._failures += 1
        return longest * (1 + self._draw()) / 2

    def reset(self) -> None:
        """Begin anew, after a success."""
        self._failures = 0
