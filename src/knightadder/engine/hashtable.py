"""The memory of the transposition table; the core reads and writes its entries."""

import contextlib
import math
import os
from pathlib import Path

import numpy as np

from knightadder.core.search.transposition import (
    BUCKET_BYTES,
    ENTRIES,
    GENERATION_SHIFT,
    GENERATIONS,
)
from knightadder.engine.errors import OptionError
from knightadder.native.memory import Clearing, zeroed_bytes

_MEGABYTE = 1 << 20
_GENERATION = np.uint64((GENERATIONS - 1) << GENERATION_SHIFT)  # the bits of it in an entry
# Where Linux tells a container's limit in bytes (cgroups, versions 2 and 1): a process that exceeds it is killed.
_CONTAINER_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


class HashTable:
    """A block of zeroed memory, aligned to cache lines.

    The first search needs its memory at once, so it should be cleared before, see `Clearing`.

    Parameters
    ----------
    megabytes : int
        Size in MiB, at least 1.

    Attributes
    ----------
    address, buckets : int
        The address of the first bucket, and the number of buckets.

    Raises
    ------
    OptionError
        If the machine does not have that much memory.
    """

    def __init__(self, megabytes: int) -> None:
        must_fit(megabytes)
        self.megabytes = megabytes
        self.buckets = megabytes * _MEGABYTE // BUCKET_BYTES
        self.generation = 0
        self._used = True  # so that the first clearing fills memory that only begins to exist when it is written to
        self._clearing: Clearing | None = None
        try:
            # Huge pages are aligned to cache lines as well.
            self._words = zeroed_bytes(megabytes * _MEGABYTE).view(np.uint64)
        except MemoryError:
            raise OptionError(f"not enough memory for a hash table of {megabytes} MB") from None
        self.address = int(self._words.ctypes.data)

    def age(self) -> None:
        """Begin a new search: entries from earlier searches become less worth keeping."""
        self.generation = (self.generation + 1) % GENERATIONS
        self._used = True

    def clear(self) -> None:
        """Clear the table, whoever has used it."""
        self._used = True
        self.begin_clearing()
        self.wait()

    def begin_clearing(self) -> None:
        """Clear the table in the background; a table that no search has used since it was cleared is left alone."""
        if self._used:
            self.stop_clearing()
            self._used, self.generation = False, 0
            self._clearing = Clearing([self._words])

    def wait(self, timeout: float = math.inf) -> bool:
        """Wait until the table is cleared, at most so many seconds, and return whether it is."""
        return self._clearing is None or self._clearing.wait(timeout)

    def stop_clearing(self) -> None:
        """Leave the rest of the table as it is, and let its memory be freed when the table is dropped."""
        if self._clearing is not None and not self._clearing.wait(0):
            self._clearing.abandon()
            self._used = True

    def permille_full(self) -> int:
        """Return how much of the table this search has filled, in per mille, from a sample of a thousand entries."""
        data = self._words[1 : 2 * ENTRIES * 250 : 2]
        ours = (data & _GENERATION) == np.uint64(self.generation << GENERATION_SHIFT)
        return int(np.count_nonzero(ours if self.generation else ours & (data != 0)))


def must_fit(megabytes: int) -> None:
    """Raise OptionError if the machine does not have that much memory."""
    if megabytes > _megabytes_at_most():
        raise OptionError(f"not enough memory for a hash table of {megabytes} MB")


def _megabytes_at_most() -> float:
    """Return the memory of the machine, or of the container, in MiB; infinity where the system does not report it."""
    try:
        least = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / _MEGABYTE
    except (AttributeError, ValueError, OSError):
        least = math.inf
    for file in _CONTAINER_LIMITS:
        with contextlib.suppress(OSError, ValueError):  # there is no such file, or it says "max"
            least = min(least, int(file.read_text()) / _MEGABYTE)
    return least
