"""Data that the library's functions share: the core's tables, and objects that threads borrow from a pool."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Generic, TypeVar

import numpy as np

from knightadder.engine.errors import OptionError
from knightadder.engine.evaluator import EVALUATIONS, Evaluator
from knightadder.engine.options import DEFAULT_EVALUATION
from knightadder.library.loading import load_core, logger

Item = TypeVar("Item")


def tables_of(evaluation: str | None = None) -> np.record:
    """Return the core's read-only tables for an evaluation: ``"classical"``, ``"pesto"`` or ``"nnue"``.

    The default is the engine's. If its network is damaged or missing, a warning says so, and ``"classical"`` is
    used. OptionError if the given evaluation does not exist, or its network is damaged or missing; EngineError if the
    core cannot be loaded.
    """
    if evaluation is not None and (not isinstance(evaluation, str) or evaluation not in EVALUATIONS):
        raise OptionError(f"evaluation must be {' or '.join(EVALUATIONS)}, not {evaluation}")
    load_core()
    if evaluation is None:
        return _default_tables()
    evaluator = _evaluator(evaluation)
    if evaluator.problem:
        evaluator.choose(evaluation)  # raises an error if the network is still missing
    return evaluator.tables


@cache
def _default_tables() -> np.record:
    evaluator = _evaluator(DEFAULT_EVALUATION)
    if evaluator.problem:
        logger.warning("%s", evaluator.problem)
    return evaluator.tables


@cache
def _evaluator(evaluation: str) -> Evaluator:
    return Evaluator(evaluation)


class Stock(Generic[Item]):
    """A pool of objects, each for use by one thread at a time. A new object is made if none is free."""

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
