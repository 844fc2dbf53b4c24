"""Waiting for the result of another thread in such a way that Ctrl-C ends the wait on every system."""

import time
from concurrent.futures import Future, wait
from typing import TypeVar

T = TypeVar("T")

LOOK_UP = 0.5  # seconds after which a waiting thread checks for Ctrl-C, because some systems do not interrupt it


def result_of(future: Future[T], timeout: float | None = None) -> T:
    """Wait for a result and return it, or raise its exception; TimeoutError if it takes more than `timeout` seconds."""
    end = None if timeout is None else time.monotonic() + timeout
    while not future.done():
        left = LOOK_UP if end is None else min(LOOK_UP, end - time.monotonic())
        if left <= 0:
            raise TimeoutError
        wait([future], left)
    return future.result()
