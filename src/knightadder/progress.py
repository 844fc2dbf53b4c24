"""The progress of a long run: a bar on a terminal, otherwise a line from time to time."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TypeAlias

# Called with the amount done and a text to show beside it.
Update: TypeAlias = Callable[[float, str], None]
# Function that receives the amount done, and returns whether a line is due.
Due: TypeAlias = Callable[[float], bool]
# Function that receives the number of bytes and of games that have been read from a file.
Read: TypeAlias = Callable[[int, int], None]

_LINE_SECONDS = 10  # seconds between lines


def every_seconds(seconds: float, clock: Callable[[], float] = time.monotonic) -> Due:
    """Return a function that says whether a line is due: `seconds` after the start or the last line."""
    shown = clock()

    def due(done: float) -> bool:
        nonlocal shown
        now = clock()
        if now - shown < seconds:
            return False
        shown = now
        return True

    return due


@contextlib.contextmanager
def progress(
    total: int,
    done: float = 0,
    unit: str = "",
    *,
    stderr: bool = False,
    due: Due | None = None,
    place: Callable[[], str] = lambda: "",
) -> Iterator[Update]:
    """Show the progress while a ``with`` block runs: as a bar on a terminal, otherwise as lines.

    Yields a function to call after each step, with the amount done and a text to show beside it. `unit` names the
    things that are counted, such as ``games``; ``bytes`` are shown as kB, MB or GB. `due` says when a line is due, by
    default every ten seconds. A command whose output may go to a file shows the progress on standard error. `place`
    returns a text to show after the other text, see `Pool.place`.
    """
    stream = sys.stderr if stderr else sys.stdout
    if stream.isatty():
        with _bar(total, done, unit, stderr) as show:
            yield lambda now, text: show(now, _joined(text, place()))
        return
    is_due = due or every_seconds(_LINE_SECONDS)

    def show_line(now: float, text: str) -> None:
        if is_due(now):
            print(_joined(_amount(now, total, unit), text, place()), file=stream, flush=True)

    yield show_line


def _joined(*texts: str) -> str:
    return "  ".join(filter(None, texts))


@contextlib.contextmanager
def reading_progress(files: Sequence[Path]) -> Iterator[list[Read]]:
    """Show on standard error how much of some files of games has been read, the speed, and the time left.

    Yields a function for each file, in the order of reading. Call it with the number of bytes read (of the file on
    disk, which may be compressed) and the number of games.
    """
    sizes = [os.path.getsize(file) if os.path.isfile(file) else 0 for file in files]  # no error: it is reported later
    games = [0] * len(files)
    begun = time.monotonic()
    with progress(max(sum(sizes), 1), unit="bytes", stderr=True) as update:

        def show(index: int, done: int, count: int) -> None:
            games[index] = count
            read, seconds = sum(sizes[:index]) + done, time.monotonic() - begun
            text = f"{sum(games):,} games"
            if seconds >= 1:
                left = (sum(sizes) - read) * seconds / max(read, 1)
                text += f", {sum(games) / seconds:,.0f} per second, {_time(left)} left"
            update(read, text)

        yield [partial(show, index) for index in range(len(files))]


def _time(seconds: float) -> str:
    minutes, seconds = divmod(max(round(seconds), 0), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"


@contextlib.contextmanager
def _bar(total: int, done: float, unit: str, stderr: bool) -> Iterator[Update]:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
    from rich.table import Column

    amount = DownloadColumn() if unit == "bytes" else MofNCompleteColumn()
    text = TextColumn("{task.description}", markup=False, table_column=Column(ratio=1, no_wrap=True))
    columns = amount, BarColumn(20), TimeRemainingColumn(), text
    with Progress(*columns, console=Console(stderr=stderr), expand=True, transient=True) as bar:
        task = bar.add_task("", total=total)
        bar.update(task, completed=done)
        yield lambda now, what: bar.update(task, completed=now, description=what)


def _amount(done: float, total: int, unit: str) -> str:
    """Return the amount done as text: ``3/10 games`` or ``1.2 MB/4.7 MB``."""
    if unit == "bytes":
        from rich.filesize import decimal

        return f"{decimal(int(done))}/{decimal(total)}"
    return f"{int(done)}/{total} {unit}".rstrip()


@contextlib.contextmanager
def steps() -> Iterator[Callable[[str], None]]:
    """Show the steps of a wait on standard error: on a terminal as one changing line, otherwise as a line for each
    step. Yields a function to call with the text of each step.
    """
    in_place = sys.stderr.isatty()
    begin, end = ("\r\x1b[K", "") if in_place else ("", "\n")
    shown = False

    def show(text: str) -> None:
        nonlocal shown
        shown = True
        print(f"{begin}{text}", end=end, file=sys.stderr, flush=True)

    try:
        yield show
    finally:
        if in_place and shown:
            print(begin, end="", file=sys.stderr, flush=True)
