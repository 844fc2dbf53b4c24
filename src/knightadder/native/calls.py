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
    """A parameter for a record or an array. It is not given to `ctypes`, which would turn Ctrl-C into another error."""

    def __init__(self, kind: ValueType) -> None:
        self._kind = kind
        self.type = ctypes.c_int64 * (1 + kind.dimensions)
        # The last record and the value passed for it. Many successive calls get the same record, whose place does not
        # change.
        self._last: tuple[Callable[[], object], ctypes.Array[ctypes.c_int64]] = (lambda: None, self.type())

    def passed(self, value: np.ndarray | np.record) -> ctypes.Array[ctypes.c_int64]:
        """Check an argument's type and convert it; compiled code checks nothing itself."""
        last, passed = self._last
        if value is not None and value is last():
            return passed
        array, kind = np.asarray(value), self._kind
        if array.dtype != kind.dtype or array.ndim != kind.dimensions or not array.flags.c_contiguous:
            raise TypeError(f"expected {kind}, got an array of {array.dtype} with {array.ndim} dimensions")
        passed = self.type(array.ctypes.data, *array.shape)
        if isinstance(value, np.record):
            self._last = weakref.ref(value), passed
        return passed


def bind(signature: Signature, address: int) -> Callable[..., Any]:
    """Return a Python function that calls an exported function, whose machine code must stay at the address."""
    places: list[tuple[int, _Place]] = []
    parameters: list[Any] = []
    for index, kind in enumerate(signature.arguments):
        if kind.dimensions or kind.is_record:
            places.append((index, _Place(kind)))
            parameters.append(places[-1][1].type)
        else:
            parameters.append(np.ctypeslib.as_ctypes_type(np.dtype(kind.dtype)))
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
        passed = list(arguments)
        for index, place in places:
            passed[index] = place.passed(arguments[index])
        if not returns.count:
            return function(*passed)
        function(*passed, written := results())
        return tuple(written)

    return call
