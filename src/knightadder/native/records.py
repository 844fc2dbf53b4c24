"""Records: memory with named fields, which compiled code accesses through a pointer."""

from typing import Any

import numpy as np

from .memory import HUGE_PAGE, zeroed_bytes


def record(*fields: tuple[Any, ...]) -> np.dtype[Any]:
    """Return the aligned dtype of a record. Each field is a tuple of a name, a type, and for an array its shape."""
    # np.record lets plain Python read the fields as attributes, as compiled code does.
    return np.dtype((np.record, np.dtype(list(fields), align=True)))


def new_record(dtype: np.dtype[Any]) -> Any:
    """Return one zeroed, writable record; raise MemoryError if there is no room for it."""
    if dtype.itemsize < HUGE_PAGE // 4:
        return np.zeros(1, dtype)[0]
    return zeroed_bytes(dtype.itemsize).view(dtype)[0]
