"""How blocks are handed out to threads, and to executors with workers of another version."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from knightadder.engine.errors import EngineError
from knightadder.library import blocks
from knightadder.library.blocks import Threads, call, results_elsewhere


def double(factor: int, block: list[int]) -> list[int]:
    return [factor * each for each in block]


def test_a_worker_of_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    message = r"^a worker of the executor has Knightadder .*, but needs 0\.0\.1$"
    with pytest.raises(EngineError, match=message):
        call("0.0.1", b"not even unpickled", b"")
    versions = iter(["0.0.1"])  # of the caller; then those of the worker, which is a thread here
    monkeypatch.setattr(blocks, "version", lambda: next(versions, "0.0.2"))
    with ThreadPoolExecutor(1) as executor, pytest.raises(EngineError, match=message):
        next(results_elsewhere([[1]], partial(double, 2), executor, 1, in_order=True))


def test_what_is_neither_an_executor_nor_a_client() -> None:
    with pytest.raises(
        TypeError, match=r"^executor must be a concurrent.futures.Executor or a distributed.Client, not 5$"
    ):
        results_elsewhere([[1]], partial(double, 2), 5, 1, in_order=True)  # type: ignore[arg-type]


def test_a_system_that_allows_no_more_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    with Threads(2, "work", str) as pool, pytest.raises(EngineError, match=r"^the system allows no more threads$"):
        next(pool.run([1]))
