"""The types of compiled functions, written as in Numba: ``int64(Tables, int64[::1])``. This module does not import
Numba, which only the builder needs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class ValueType:
    """The type of an argument or a result. `dtype` is the type of a value, None for no result. `dimensions` is the
    number of dimensions of a contiguous array, and `count` the length of a tuple; both are otherwise 0.
    """

    dtype: np.dtype | None
    dimensions: int = 0
    count: int = 0

    @property
    def is_record(self) -> bool:
        """Whether the type is a single record, which is passed by its address."""
        return self.dimensions == 0 and self.dtype is not None and self.dtype.names is not None

    def __getitem__(self, axes: slice | tuple[slice, ...]) -> ValueType:
        """Return the type of an array, such as ``int64[::1]`` or ``int64[:, ::1]``."""
        return ValueType(self.dtype, len(axes) if isinstance(axes, tuple) else 1)

    def __call__(self, *arguments: ValueType) -> Signature:
        """Return the signature of a function that returns this type."""
        return Signature(self, arguments)


@dataclass(frozen=True)
class Signature:
    """The type of a function: the types of its result and of its arguments."""

    returns: ValueType
    arguments: tuple[ValueType, ...]


def record_type(dtype: np.dtype) -> ValueType:
    """Return the type of a record with this structured dtype."""
    return ValueType(dtype)


def pair(kind: ValueType) -> ValueType:
    """Return the type of a tuple of two numbers."""
    return ValueType(kind.dtype, count=2)


void = ValueType(None)
uint8, int16, uint16, int32, uint32, int64, uint64, float32 = (
    ValueType(np.dtype(name)) for name in ("uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32")
)
