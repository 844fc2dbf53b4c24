"""The memory of the transposition table. The core reads and writes its entries."""

import contextlib
import math

import numpy as np

from knightadder.core.search.transposition import BUCKET_BYTES, ENTRIES, GENERATION_SHIFT, GENERATIONS
from knightadder.engine import capacity
from knightadder.engine.errors import OptionError
from knightadder.native.memory import Clearing, zeroed_bytes

_MEGABYTE = 1 << 20
_GENERATION = np.uint64((GENERATIONS - 1) << GENERATION_SHIFT)  # the bits of the generation in an entry


class HashTable:
    """A block of zeroed memory for the transposition table: `buckets` cache lines from `address` on. An `OptionError`
    is raised if the machine does not have `megabytes` MiB (at least 1) of memory.
    """

    def __init__(self, megabytes: int) -> None:
        must_fit(megabytes)
        self.megabytes = megabytes
        self.buckets = megabytes * _MEGABYTE // BUCKET_BYTES
        self.generation = 0
        self._used = True  # so that the first clearing writes to all of the memory: the system provides it only then
        self._clearing: Clearing | None = None
        try:
            # Huge pages are aligned to cache lines, too.
            self._words = zeroed_bytes(megabytes * _MEGABYTE).view(np.uint64)
        except MemoryError:
            raise OptionError(f"not enough memory for a hash table of {megabytes} MB") from None
        self.address = int(self._words.ctypes.data)

    def age(self) -> None:
        """Begin a new search: entries of earlier searches become less useful."""
        self.generation = (self.generation + 1) % GENERATIONS
        self._used = True

    def clear(self) -> None:
        """Clear the table, even if no search has begun since it was last cleared."""
        self._used = True
        self.begin_clearing()
        self.wait()

    def begin_clearing(self) -> None:
        """Clear the table in the background, unless no search has used it since it was last cleared."""
        if self._used:
            self.stop_clearing()
            self._used, self.generation = False, 0
            self._clearing = Clearing([self._words])

    def wait(self, timeout: float = math.inf) -> bool:
        """Wait until the table is cleared, at most `timeout` seconds; return whether it is cleared."""
        return self._clearing is None or self._clearing.wait(timeout)

    def stop_clearing(self) -> None:
        """Stop the clearing in the background, so that the memory can be freed when the table is dropped."""
        if self._clearing is not None and not self._clearing.wait(0):
            self._clearing.abandon()
            self._used = True

    def permille_full(self) -> int:
        """Return the share of entries that this search has filled, in per mille, estimated from 1000 entries."""
        data = self._words[1 : 2 * ENTRIES * 250 : 2]
        ours = (data & _GENERATION) == np.uint64(self.generation << GENERATION_SHIFT)
        return int(np.count_nonzero(ours if self.generation else ours & (data != 0)))


def first_possible(*sizes: int) -> HashTable:
    """Return a hash table of the first size, in MiB, for which there is enough memory; OptionError if there is none."""
    *preferred, last = sizes
    for megabytes in preferred:
        with contextlib.suppress(OptionError):
            return HashTable(megabytes)
    return HashTable(last)


def must_fit(megabytes: int) -> None:
    """Raise an OptionError if the machine does not have that much memory."""
    if megabytes > capacity.megabytes():
        raise OptionError(f"not enough memory for a hash table of {megabytes} MB")
