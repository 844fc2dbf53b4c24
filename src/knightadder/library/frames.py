"""Tables of results with pandas, which is optional."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias, cast

from knightadder.extras import needed_by

if TYPE_CHECKING:
    import pandas

Cell: TypeAlias = str | int | float | bool | None
Rows: TypeAlias = list[dict[str, Cell]]


class Tabular(ABC):
    """A result that can be part of a table."""

    __slots__ = ()

    @abstractmethod
    def to_dict(self) -> Mapping[str, Cell | Rows]:
        """Return the result as plain values by name."""

    def to_frame(self) -> pandas.DataFrame:
        """Return the result as a table. The columns are the keys of `to_dict`; some results have several rows. An
        `OptionError` is raised if pandas is not installed.
        """
        return _frame(self._rows())

    def _rows(self) -> Rows:
        return [cast(dict[str, Cell], self.to_dict())]  # results with several rows override this method


def to_frame(results: Iterable[Tabular] | Tabular) -> pandas.DataFrame:
    """Make a table of results.

    Parameters
    ----------
    results : iterable, or one result
        Results of the library's functions: `Analysis` (a row for each line), `AnnotatedGame` (a row for each move),
        `Line`, `AnnotatedMove`, `PlayResult`, `Evaluation`, `ExplorerMove` or `ExplorerGame`.

    Returns
    -------
    pandas.DataFrame
        A table whose first column, ``position``, is the index of the result, counted from 0. The other columns are the
        keys of ``to_dict()``.

    Raises
    ------
    OptionError
        If pandas is not installed.
    TypeError
        If the arguments are not results.
    """
    if isinstance(results, Tabular):
        results = [results]
    if not isinstance(results, Iterable):
        raise TypeError(f"expected several results, not {results!r:.60}")
    rows: list[Mapping[str, Cell]] = []
    for number, result in enumerate(results):
        if not isinstance(result, Tabular):
            raise TypeError(f"result {number} is not a result of the library: {result!r:.60}")
        rows += [{"position": number, **row} for row in result._rows()]
    return _frame(rows)


def _frame(rows: Iterable[Mapping[str, Cell]]) -> pandas.DataFrame:
    with needed_by("to_frame", "notebook"):
        import pandas
    return pandas.DataFrame(list(rows))
