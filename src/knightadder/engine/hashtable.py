"""The memory of the transposition table; the core reads and writes its entries."""

import contextlib
import math
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from knightadder.core.native.memory import zeroed_bytes
from knightadder.core.search.transposition import (
    BUCKET_BYTES,
    ENTRIES,
    GENERATION_SHIFT,
    GENERATIONS,
)
from knightadder.engine.errors import OptionError

_MEGABYTE = 1 << 20
# Where Linux tells a container's limit in bytes (cgroups, versions 2 and 1): a process that exceeds it is killed.
_CONTAINER_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
_CLEAR_AT_ONCE = 1 << 21  # words; below it a thread costs more than it saves


class HashTable:
    """A block of zeroed memory, aligned to cache lines.

    Parameters
    ----------
    megabytes : int
        Size in MiB, at least 1.

    Raises
    ------
    OptionError
        If the machine does not have that much memory.
    """

    def __init__(self, megabytes: int) -> None:
        if megabytes > _megabytes_at_most():
            raise OptionError(f"not enough memory for a hash table of {megabytes} MB")
        self.megabytes = megabytes
        self.buckets = megabytes * _MEGABYTE // BUCKET_BYTES
        self.generation = 0
        try:
            # Huge pages are aligned to cache lines as well.
            self._words = zeroed_bytes(megabytes * _MEGABYTE).view(np.uint64)
        except MemoryError:
            raise OptionError(f"not enough memory for a hash table of {megabytes} MB") from None

    @property
    def address(self) -> int:
        """Address of the first bucket."""
        return int(self._words.ctypes.data)

    def age(self) -> None:
        """Begin a new search: entries from earlier searches become less worth keeping."""
        self.generation = (self.generation + 1) % GENERATIONS

    def clear(self, threads: int = 2) -> None:
        """Clear the table, in parallel."""
        self.generation = 0
        parts = np.array_split(self._words, max(1, min(threads, len(self._words) // _CLEAR_AT_ONCE)))
        if len(parts) == 1:  # starting a thread takes longer than clearing a small table
            self._words.fill(0)
            return
        with ThreadPoolExecutor(len(parts)) as pool:
            # NumPy releases the GIL while it fills the array.
            list(pool.map(lambda part: part.fill(0), parts))

    def permille_full(self) -> int:
        """Return how much of the table this search has filled, in per mille, from a sample of a thousand entries."""
        data = self._words[1 : 2 * ENTRIES * 250 : 2]
        generations = (data >> np.uint64(GENERATION_SHIFT)) & np.uint64(GENERATIONS - 1)
        return int(np.count_nonzero((data != 0) & (generations == self.generation)))


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
