"""Shows which Syzygy tables are present and which are missing."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from knightadder.core.tables import new_tables
from knightadder.engine.tablebases.file import DTZ, WDL
from knightadder.engine.tablebases.registry import Tablebases
from knightadder.files import reading
from knightadder.tablebases.names import MOST_MEN, table_names
from knightadder.tablebases.verify import named_folders
from knightadder.text import tell

_NAMED = 3  # maximum number of missing tables shown by name; the remaining tables are only counted


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand; return the exit status: 1 if a file is not usable. OptionError if a folder cannot be read."""
    from rich.console import Console
    from rich.filesize import decimal
    from rich.table import Table

    folders = named_folders(arguments)
    for folder in folders:
        with reading(folder):
            os.scandir(folder).close()
    tablebases = Tablebases(new_tables(), folders)
    sizes = _sizes(tablebases.paths)
    table = Table("Men", "WDL", "DTZ", "Size", "Missing")
    for column in table.columns[:4]:
        column.justify, column.no_wrap = "right", True
    counts = [0, 0, 0]
    most = max(MOST_MEN, *(len(Path(name).stem) - 1 for name in sizes), 0)
    for men in range(3, most + 1):
        names = table_names(men)
        found = [[name for name in names if name + suffix in sizes] for suffix in (WDL, DTZ)]
        size = sum(sizes.get(name + suffix, 0) for name in names for suffix in (WDL, DTZ))
        row = [f"{len(each)} of {len(names)}" for each in found]
        table.add_row(str(men), *row, decimal(size), describe_missing(names, *found))
        counts = [total + len(each) for total, each in zip(counts, (names, *found), strict=True)]
    Console().print(table)
    print(
        f"Up to {most} men: {counts[1]} of {counts[0]} WDL tables, {counts[2]} of {counts[0]} DTZ tables, "
        f"{decimal(sum(sizes.values()))}"
    )
    for problem in tablebases.problems:
        tell(problem)
    return 1 if tablebases.problems else 0


def describe_missing(names: Sequence[str], wdl: Collection[str], dtz: Collection[str]) -> str:
    """Return a text that lists the missing tables, such as ``KBBvK, KBNvK.rtbz, KBPvK and 7 more``.
    If only one of a table's two files is missing, the text contains the name of that file.
    """
    missing = [
        name + (WDL if name in dtz else DTZ if name in wdl else "")
        for name in names
        if name not in wdl or name not in dtz
    ]
    if not wdl and not dtz:
        return "all"
    if len(missing) <= _NAMED + 1:
        return ", ".join(missing)
    return f"{', '.join(missing[:_NAMED])} and {len(missing) - _NAMED} more"


def _sizes(paths: Mapping[str, Path]) -> dict[str, int]:
    """Return the size of each file in bytes, without files that no longer exist."""
    sizes = {}
    for name, path in paths.items():
        with contextlib.suppress(OSError):
            sizes[name] = path.stat().st_size
    return sizes
