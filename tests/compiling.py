"""Functions that are compiled for a test."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from knightadder.native.program import BOUNDSCHECK, INTERPRETED


def compiled(function: Callable) -> Callable:
    """Have a function of a test compiled at its first call, with the kernels that it calls; unless all is interpreted.

    So collecting the tests does not load Numba.
    """
    if INTERPRETED:
        return function

    @cache
    def compile_it() -> Callable:
        from numba import njit

        from knightadder.native.builder import teach_numba

        teach_numba()
        return njit(function, nogil=True, error_model="numpy", boundscheck=BOUNDSCHECK)

    def call(*arguments: Any) -> Any:
        return compile_it()(*arguments)

    return call
