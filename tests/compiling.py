"""Functions that are compiled for a test."""

from __future__ import annotations

from collections.abc import Callable

from knightadder.native.program import BOUNDSCHECK, INTERPRETED


def compiled(function: Callable) -> Callable:
    """Compile a function of a test, with the kernels that it calls; unless all runs interpreted."""
    if INTERPRETED:
        return function
    from numba import njit

    from knightadder.native.builder import teach_numba

    teach_numba()
    return njit(function, nogil=True, error_model="numpy", boundscheck=BOUNDSCHECK)
