"""Calls of exported functions: passes Python's values to compiled code, and returns its result.

A number is passed directly. A record or an array is passed as the address of a list of 64-bit integers: the address of
its data and, for an array, its lengths. A tuple of results is written to the address in a last argument.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from .signatures import Signature, ValueType


class _Place:
    """A parameter for a record or an array, in the form that `ctypes` requires."""

    def __init__(self, kind: ValueType) -> None:
        self._kind = kind
        self._passed = ctypes.c_int64 * (1 + kind.dimensions)
        # The last record and the value passed for it. Many successive calls get the same record, whose place does not
        # change.
        self._last: tuple[Callable[[], object], ctypes.Array[ctypes.c_int64]] = (lambda: None, self._passed())

    def from_param(self, value: np.ndarray | np.record) -> ctypes.Array[ctypes.c_int64]:
        """Check an argument's type and convert it; compiled code checks nothing itself."""
        last, passed = self._last
        if value is not None and value is last():
            return passed
        array, kind = np.asarray(value), self._kind
        if array.dtype != kind.dtype or array.ndim != kind.dimensions or not array.flags.c_contiguous:
            raise TypeError(f"expected {kind}, got an array of {array.dtype} with {array.ndim} dimensions")
        passed = self._passed(array.ctypes.data, *array.shape)
        if isinstance(value, np.record):
            self._last = weakref.ref(value), passed
        return passed


def bind(signature: Signature, address: int) -> Callable[..., Any]:
    """Return a Python function that calls an exported function, whose machine code must stay at the address."""
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
        if len(arguments) != len(signature.arguments):  # ctypes itself accepts extra arguments
            raise TypeError(f"expected {len(signature.arguments)} arguments, got {len(arguments)}")
        if not returns.count:
            return function(*arguments)
        function(*arguments, written := results())
        return tuple(written)

    return call
