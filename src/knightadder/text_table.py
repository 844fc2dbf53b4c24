"""Tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text


def text_table(
    columns: Sequence[str], rows: Iterable[Iterable[object]] = (), left: int = 1, framed: bool = False, **options: Any
) -> Table:
    """Return a table whose first `left` columns are text and the others numbers. `options` are as for `Table`."""
    table = Table(title_justify="left", box=box.HEAVY_HEAD if framed else box.SIMPLE, **options)
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number < left else "right")
    for row in rows:
        add_cells(table, row)
    return table


def add_cells(table: Table, cells: Iterable[object], style: str = "") -> None:
    """Add a row to a table; names in it may look like markup, and are shown as they are."""
    table.add_row(*(Text(str(cell)) for cell in cells), style=style)
