"""Memory from the operating system: large blocks for tables, and room for machine code."""

import contextlib
import ctypes
import mmap
import sys

import numpy as np
from numpy.typing import NDArray

HUGE_PAGE = 2 << 20  # bytes, on most processors


def zeroed_bytes(size: int) -> NDArray[np.uint8]:
    """Return a block of zeroed memory that takes no room until something is written to it.

    It lies in huge pages where the system has them. Search reads and writes its tables at random: with small pages the
    processor would often have to look up their addresses (TLB misses).

    Parameters
    ----------
    size : int
        In bytes.

    Returns
    -------
    numpy.ndarray
        Its bytes, aligned to a huge page.

    Raises
    ------
    MemoryError
        If the system does not provide so much.
    """
    try:
        block = np.frombuffer(_pages(-(-size // HUGE_PAGE) * HUGE_PAGE + HUGE_PAGE), np.uint8)
    except (OSError, OverflowError) as error:
        raise MemoryError(f"no {size} bytes of memory") from error
    offset = -block.ctypes.data % HUGE_PAGE
    return block[offset : offset + size]


def _pages(size: int) -> mmap.mmap:
    if sys.platform == "win32":
        return mmap.mmap(-1, size)
    pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    # Only Linux has this advice, and only if its kernel was built with it.
    with contextlib.suppress(AttributeError, OSError):
        pages.madvise(mmap.MADV_HUGEPAGE)
    return pages


def executable(code: bytes) -> NDArray[np.uint8]:
    """Copy machine code to memory from which it can run.

    Parameters
    ----------
    code : bytes
        What refers to nothing outside, for the processor at hand.

    Returns
    -------
    numpy.ndarray
        The memory, at the beginning of a page. It must be kept for as long as the code may run.

    Raises
    ------
    OSError
        If the system does not allow it.
    """
    if sys.platform == "win32":
        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        kernel.VirtualAlloc.restype = ctypes.c_void_p
        kernel.VirtualAlloc.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint32, ctypes.c_uint32
        commit_and_reserve, read_write_execute = 0x3000, 0x40
        address = kernel.VirtualAlloc(None, len(code), commit_and_reserve, read_write_execute)
        if not address:
            raise ctypes.WinError(ctypes.get_last_error())
        ctypes.memmove(address, code, len(code))
        return np.frombuffer((ctypes.c_char * len(code)).from_address(address), np.uint8)
    # First to be written, then to be run: never both at once, which some systems refuse. LLVM does the same for code
    # that it makes at run time (llvm/lib/Support/Unix/Memory.inc), and so works Numba on all of these systems.
    pages = mmap.mmap(-1, len(code), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    pages.write(code)
    block = np.frombuffer(pages, np.uint8)
    system = ctypes.CDLL(None, use_errno=True)
    if system.mprotect(block.ctypes, ctypes.c_size_t(len(code)), mmap.PROT_READ | mmap.PROT_EXEC):
        raise OSError(ctypes.get_errno(), "the system lets no memory be run")
    if sys.platform == "darwin":  # Linux does this by itself
        system.sys_icache_invalidate(block.ctypes, ctypes.c_size_t(len(code)))
    return block
