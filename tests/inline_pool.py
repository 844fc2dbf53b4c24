"""A pool whose workers are threads of this process, so that tests can change what the tasks do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from knightadder.parallel import executor
from knightadder.parallel import pool as pools


class ThreadPool(pools.Pool):
    """A pool of so many threads that call a function."""

    def __init__(self, threads: ThreadPoolExecutor, count: int, call: Callable[[Any], bytes]) -> None:
        self._threads, self._count, self._call = threads, count, call

    def submit(self, item: Any) -> Future[bytes]:
        return self._threads.submit(self._answer, item)

    def workers(self) -> int:
        return self._count

    def _answer(self, item: Any) -> bytes:
        try:
            return self._call(item)
        except Exception as error:
            raise pools.failure(error) from None


@contextmanager
def thread_pool(call: Callable[[Any], bytes], count: int = 1) -> Iterator[ThreadPool]:
    """Open a pool for a ``with`` block; what was not begun at its end is not begun any more."""
    threads = ThreadPoolExecutor(count)
    try:
        yield ThreadPool(threads, count, call)
    finally:
        threads.shutdown(cancel_futures=True)


@contextmanager
def _inline(pickled: bytes, count: int) -> Iterator[ThreadPool]:
    tasks = pools.Tasks(pickled)
    with thread_pool(tasks.call, count) as pool:
        try:
            yield pool
        finally:
            tasks.end()


@pytest.fixture
def inline_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the processes of a pool be threads of this process."""
    monkeypatch.setattr(executor, "_Processes", _inline)
