"""Large blocks of memory from the operating system, and filling them with zeros in the background.

The system provides memory only when it is first written to, which takes far longer than any later access. So memory is
filled before it is needed. Otherwise the first accesses would take milliseconds each.
"""

import contextlib
import math
import mmap
import sys
import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .processors import processors

HUGE_PAGE = 2 << 20  # bytes, on most processors

_PART = 8 << 20  # bytes that a thread fills at a time; small, so that a clearing can be abandoned quickly
_AT_ONCE = 2 * _PART  # maximum number of bytes to fill without threads, which take longer to start


def zeroed_bytes(size: int) -> NDArray[np.uint8]:
    """Return a block of zeroed memory, aligned to a huge page, that uses no physical memory until it is written to.

    It uses huge pages if the system has them. A search accesses its tables at random; with small pages, the processor
    would often have to look up their addresses (TLB misses). A `MemoryError` is raised if there is too little memory.
    """
    try:
        block = np.frombuffer(_pages(-(-size // HUGE_PAGE) * HUGE_PAGE + HUGE_PAGE), np.uint8)
    except (OSError, OverflowError) as error:
        raise MemoryError(f"cannot get {size} bytes of memory") from error
    offset = -block.ctypes.data % HUGE_PAGE
    return block[offset : offset + size]


def _pages(size: int) -> mmap.mmap:
    if sys.platform == "win32":
        return mmap.mmap(-1, size)
    pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    # Only Linux accepts this advice, if its kernel was built with it.
    with contextlib.suppress(AttributeError, OSError):
        pages.madvise(mmap.MADV_HUGEPAGE)
    return pages


class Clearing:
    """Fills one-dimensional arrays with zeros: small ones immediately, and large ones in the background."""

    def __init__(self, blocks: Sequence[NDArray[Any]]) -> None:
        self._parts: deque[NDArray[Any]] = deque()
        self._done: list[threading.Event] = []  # one event for each thread
        if sum(block.nbytes for block in blocks) <= _AT_ONCE:
            for block in blocks:
                block.fill(0)
            return
        self._parts.extend(part for block in blocks for part in np.array_split(block, -(-block.nbytes // _PART)))
        for _ in range(processors()):
            done = threading.Event()
            thread = threading.Thread(target=self._fill, args=(done,), name="clearing", daemon=True)
            try:
                thread.start()
            except RuntimeError:  # the system allows no more threads
                break
            self._done.append(done)
        if not self._done:
            self._fill(threading.Event())

    def wait(self, timeout: float = math.inf) -> bool:
        """Wait for the end of the clearing, at most `timeout` seconds; return whether it has ended."""
        end = time.monotonic() + timeout
        return all(done.wait(min(max(end - time.monotonic(), 0.0), threading.TIMEOUT_MAX)) for done in self._done)

    def abandon(self) -> None:
        """Stop the clearing soon, leaving the rest unfilled, and wait until it has stopped."""
        self._parts.clear()
        self.wait()

    def _fill(self, done: threading.Event) -> None:
        try:
            with contextlib.suppress(IndexError):  # ends when no part is left
                while True:
                    self._parts.popleft().fill(0)  # NumPy releases the GIL while it fills
        finally:
            done.set()
