"""The progress bar of a long run."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import TypeAlias

# Called with the amount done and a text to show beside the bar.
Update: TypeAlias = Callable[[int, str], None]


@contextlib.contextmanager
def bar(total: int, done: int = 0, stderr: bool = False) -> Iterator[Update | None]:
    """Show a progress bar while a ``with`` block runs.

    Parameters
    ----------
    total, done : int
        The amount of work in all, and the amount done at the beginning.
    stderr : bool
        Whether to show it on standard error, for a command whose output may go into a file.

    Yields
    ------
    callable or None
        Updates the bar; None if the stream is not a terminal.
    """
    if not (sys.stderr if stderr else sys.stdout).isatty():
        yield None
        return

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
    from rich.table import Column

    text = TextColumn("{task.description}", markup=False, table_column=Column(ratio=1, no_wrap=True))
    columns = MofNCompleteColumn(), BarColumn(20), TimeRemainingColumn(), text
    with Progress(*columns, console=Console(stderr=stderr), expand=True, transient=True) as progress:
        task = progress.add_task("", total=total, completed=done)
        yield lambda now, what: progress.update(task, completed=now, description=what)
