"""The types of arguments and results of compiled code.

They are written as in Numba, ``int64(Tables, Worker, int64[::1])``, but do not need Numba; only the builder does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class ValueType:
    """The type of an argument or a result.

    Attributes
    ----------
    dtype : numpy.dtype or None
        The dtype of a number, a record or an array's elements; None for no result.
    dimensions : int
        Number of dimensions of a contiguous array; 0 for a single value.
    count : int
        Number of values in a tuple; 0 if the type is not a tuple.
    """

    dtype: np.dtype | None
    dimensions: int = 0
    count: int = 0

    @property
    def is_record(self) -> bool:
        """Whether the type is a single record, which is passed by its address."""
        return self.dimensions == 0 and self.dtype is not None and self.dtype.names is not None

    def __getitem__(self, axes: slice | tuple[slice, ...]) -> ValueType:
        """Give the type of an array, such as ``int64[::1]`` or ``int64[:, ::1]``."""
        return ValueType(self.dtype, len(axes) if isinstance(axes, tuple) else 1)

    def __call__(self, *arguments: ValueType) -> Signature:
        """Give the signature of a function that returns this type."""
        return Signature(self, arguments)


@dataclass(frozen=True)
class Signature:
    """The type of a function.

    Attributes
    ----------
    returns : ValueType
        The result's type.
    arguments : tuple of ValueType
        The arguments' types.
    """

    returns: ValueType
    arguments: tuple[ValueType, ...]


def record_type(dtype: np.dtype) -> ValueType:
    """Give the type of a record with this structured dtype."""
    return ValueType(dtype)


def pair(kind: ValueType) -> ValueType:
    """Give the type of a tuple of two numbers."""
    return ValueType(kind.dtype, count=2)


void = ValueType(None)
uint8, int16, uint16, int32, uint32, int64, uint64, float32 = (
    ValueType(np.dtype(name)) for name in ("uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32")
)
