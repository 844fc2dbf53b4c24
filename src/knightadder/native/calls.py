"""Calls: how Python's values reach an exported function of a compiled program, and its result comes back.

A number is passed as it is. A record or an array is passed as the address of a list of 64-bit integers: where its data
are, and, for an array, its lengths. A tuple of results is written to the address in a last argument.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from .signatures import Kind, Signature


class _Place:
    """A parameter for a record or an array, in the form in which `ctypes` wants to have it."""

    def __init__(self, kind: Kind) -> None:
        self._kind = kind
        self._passed = ctypes.c_int64 * (1 + kind.dimensions)

    def from_param(self, value: np.ndarray | np.record) -> ctypes.Array[ctypes.c_int64]:
        """Convert an argument, after a check of its type: nothing is checked any more where it arrives."""
        array, kind = np.asarray(value), self._kind
        if array.dtype != kind.dtype or array.ndim != kind.dimensions or not array.flags.c_contiguous:
            raise TypeError(f"an array of {array.dtype} with {array.ndim} dimensions where {kind} is wanted")
        return self._passed(array.ctypes.data, *array.shape)


def bind(signature: Signature, address: int) -> Callable[..., Any]:
    """Give the function that calls an exported function.

    Parameters
    ----------
    signature : Signature
        The types of its arguments and its result.
    address : int
        Where its machine code is, which must stay there.
    """
    parameters: list[Any] = [
        _Place(kind) if kind.dimensions or kind.is_record else np.ctypeslib.as_ctypes_type(np.dtype(kind.dtype))
        for kind in signature.arguments
    ]
    returns = signature.returns
    results = ctypes.c_int64 * returns.count
    result = None
    if returns.count:
        parameters.append(results)
    elif returns.dtype is not None:
        result = ctypes.c_uint64 if returns.dtype == np.uint64 else ctypes.c_int64
    function = ctypes.CFUNCTYPE(result, *parameters)(address)

    def call(*arguments: Any) -> Any:
        if len(arguments) != len(signature.arguments):  # ctypes itself lets more arguments pass
            raise TypeError(f"{len(arguments)} arguments where {len(signature.arguments)} are wanted")
        if not returns.count:
            return function(*arguments)
        function(*arguments, written := results())
        return tuple(written)

    return call
