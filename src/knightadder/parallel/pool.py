"""The workers of a run, on this or other machines: their tasks and items.

A task is a callable object that can be pickled. It maps an item (for example a number) to a result, which depends only
on the task and the item, so any worker can compute or repeat it. Each working thread unpickles the task once, so the
task can keep loaded data. If the task has a method `close`, a different thread calls it at the end of the run, even
while the task works. A closed task is not called again.
"""

from __future__ import annotations

import pickle
import threading
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from functools import cache
from itertools import islice
from typing import Any, TypeVar

from knightadder import __version__
from knightadder.digests import source_digest
from knightadder.engine.errors import EngineError

Item = TypeVar("Item")

_POLL_SECONDS = 0.5  # maximum length of a wait, because on some systems Ctrl-C does not interrupt a wait
_AHEAD = 2  # items handed out per worker, so that no worker waits; twice as many if the order matters


class Pool(ABC):
    """Workers that run a task."""

    def run(self, items: Iterable[Item | None], in_order: bool = False) -> Generator[tuple[Item, Any], None, None]:
        """Run the task on items, several at a time, and yield each item with its result.

        The next item is taken when a worker is free and no result is ready. If an item is None, the next item is known
        only after another result has been yielded. Results are yielded as they become ready or, with `in_order`, in the
        order of the items. After Ctrl-C, finished results are still yielded, except with `in_order`. Errors of the task
        are raised, and EngineError if all workers are lost; waiting items are then cancelled.
        """
        remaining = iter(items)
        running: dict[Future[Any], Item] = {}  # in the order of the items
        try:
            while True:
                if (done := _first_done(running, in_order)) is not None:
                    yield running.pop(done), done.result()
                elif (
                    len(running) < _AHEAD * (1 + in_order) * max(self.workers(), 1)
                    and (following := next(remaining, None)) is not None
                ):
                    running[self.submit(following)] = following
                elif running:
                    wait(islice(running, 1 if in_order else None), _POLL_SECONDS, FIRST_COMPLETED)
                else:
                    return
        except KeyboardInterrupt:
            for future, item in [] if in_order else list(running.items()):
                if future.done() and not _has_failed(future):
                    yield item, future.result()
            raise
        finally:
            for future in running:
                future.cancel()

    @abstractmethod
    def submit(self, item: Any) -> Future[Any]:
        """Start the task for an item. Only a cluster repeats it if its worker is lost."""

    @abstractmethod
    def workers(self) -> int:
        """Return the number of workers; EngineError if no worker is left and none can join."""

    def place(self) -> str:
        """Return a text about where the tasks run, for the display of progress."""
        return ""


def _first_done(running: dict[Future[Any], Any], in_order: bool) -> Future[Any] | None:
    """Return a finished future, if possible one without an error; with `in_order`, only the first item's future."""
    done = [future for future in islice(running, 1 if in_order else None) if future.done()]
    return min(done, key=_has_failed, default=None)


def failure(error: Exception) -> EngineError:
    """Convert an error raised by a task to an EngineError of one line."""
    if isinstance(error, EngineError):
        return error
    return EngineError(f"a worker failed: {type(error).__name__}: {error}")


def _has_failed(future: Future[Any]) -> bool:
    return future.cancelled() or future.exception() is not None


# --- on a worker -----------------------------------------------------------------------------------------


@cache
def version() -> str:
    """Return the package's version with a digest of its sources and networks; all machines must have the same."""
    return f"{__version__}-{source_digest(folders=('',), suffixes=('.py', '.json', '.nnue'))}"


class Tasks:
    """The task of a run in one process, with a copy for each working thread."""

    def __init__(self, pickled: bytes) -> None:
        self._pickled = pickled
        self._copies: list[Any] = []
        self._idle: list[Any] = []
        self._lock = threading.Lock()  # held while a copy is chosen
        self._ended = False

    def call(self, item: Any) -> Any:
        """Call the task; EngineError after `end`."""
        with self._lock:
            if self._ended:
                raise EngineError("no more tasks: the run has ended")
            if not self._idle:
                self._copies.append(pickle.loads(self._pickled))
                self._idle.append(self._copies[-1])
            task = self._idle.pop()
        try:
            return task(item)
        finally:
            self._idle.append(task)

    def end(self) -> None:
        """Close all copies, and call no copy again."""
        with self._lock:
            self._ended = True
        for task in self._copies:
            if hasattr(task, "close"):
                task.close()
