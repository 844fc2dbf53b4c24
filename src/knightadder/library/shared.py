"""Data that the library's functions share: the core's tables, and objects that threads borrow from a pool."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Generic, TypeVar

import numpy as np

from knightadder.core.layout import CLASSICAL, PESTO
from knightadder.core.tables import new_tables
from knightadder.engine.errors import OptionError

Item = TypeVar("Item")

_EVALUATIONS = {"classical": CLASSICAL, "pesto": PESTO}


def tables_of(evaluation: str) -> np.record:
    """Give the core's read-only tables.

    Parameters
    ----------
    evaluation : str
        ``"classical"`` or ``"pesto"``.

    Raises
    ------
    OptionError
        If there is no such evaluation.
    """
    if not isinstance(evaluation, str) or evaluation not in _EVALUATIONS:
        raise OptionError(f"evaluation is {' or '.join(_EVALUATIONS)}, not {evaluation}")
    return _tables(_EVALUATIONS[evaluation])


@cache
def _tables(evaluation: int) -> np.record:
    tables: np.record = new_tables(evaluation)
    return tables


class Stock(Generic[Item]):
    """A pool of objects that one thread at a time can use: an object is made when none is free.

    Parameters
    ----------
    make : callable
        Makes an object.
    """

    def __init__(self, make: Callable[[], Item]) -> None:
        self._make = make
        self._idle: list[Item] = []

    @contextmanager
    def lend(self) -> Iterator[Item]:
        """Lend an object for the ``with`` block."""
        try:
            item = self._idle.pop()
        except IndexError:
            item = self._make()
        try:
            yield item
        finally:
            self._idle.append(item)
