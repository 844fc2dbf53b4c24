"""Large blocks of memory from the operating system, for tables."""

import contextlib
import mmap
import sys

import numpy as np
from numpy.typing import NDArray

HUGE_PAGE = 2 << 20  # bytes, on most processors


def zeroed_bytes(size: int) -> NDArray[np.uint8]:
    """Return a block of zeroed memory that uses no physical memory until it is written to.

    It uses huge pages if the system has them. A search accesses its tables at random: with small pages, the processor
    would often have to look up their addresses (TLB misses).

    Parameters
    ----------
    size : int
        In bytes.

    Returns
    -------
    numpy.ndarray
        The bytes, aligned to a huge page.

    Raises
    ------
    MemoryError
        If the system does not provide that much.
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
    # Only Linux has this advice, if its kernel was built with it.
    with contextlib.suppress(AttributeError, OSError):
        pages.madvise(mmap.MADV_HUGEPAGE)
    return pages
