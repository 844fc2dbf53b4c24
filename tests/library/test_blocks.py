"""How blocks are handed out to threads, and to executors with workers of another version."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from knightadder import pool as pools
from knightadder.engine.errors import EngineError
from knightadder.engine.evaluator import BUILT_IN_FILE
from knightadder.library import blocks
from knightadder.library.blocks import Threads, blocks_of, call, results_elsewhere


def numbers(taken: list[int]) -> Iterator[int]:
    number = 0
    while True:
        taken.append(number)
        yield number
        number += 1


def test_blocks_have_a_size_and_are_taken_when_needed() -> None:
    taken: list[int] = []
    found = blocks_of(numbers(taken), 3)
    assert taken == [] and next(found) == [0, 1, 2] and taken == [0, 1, 2]
    assert list(blocks_of(range(7), 3)) == [[0, 1, 2], [3, 4, 5], [6]]
    assert list(blocks_of([], 3)) == []


def double(factor: int, block: list[int]) -> list[int]:
    return [factor * each for each in block]


def test_work_is_handed_out_with_its_arguments() -> None:
    with ThreadPoolExecutor(1) as executor:
        found = results_elsewhere(blocks_of(range(5), 2), partial(double, 2), executor, 1, in_order=True)
        assert [outcome for _, outcome in found] == [[0, 2], [4, 6], [8]]


def test_threads_do_each_block_once() -> None:
    with Threads(3, "work", partial(double, 3)) as pool:
        assert [outcome for _, outcome in pool.run(blocks_of(range(50), 1), in_order=True)] == [
            [3 * number] for number in range(50)
        ]


def test_a_worker_of_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    message = r"^a worker of the executor has Knightadder .*, and needs 0\.0\.1$"
    with pytest.raises(EngineError, match=message):
        call("0.0.1", b"not even unpickled", b"")
    versions = iter(["0.0.1"])  # of the caller; then those of the worker, which is a thread here
    monkeypatch.setattr(blocks, "version", lambda: next(versions, "0.0.2"))
    with ThreadPoolExecutor(1) as executor, pytest.raises(EngineError, match=message):
        next(results_elsewhere([[1]], partial(double, 2), executor, 1, in_order=True))


def test_a_version_is_also_that_of_the_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}
    monkeypatch.setattr(pools, "source_digest", lambda **names: asked.update(names))
    pools.version.__wrapped__()
    assert asked["folders"] == ("",) and BUILT_IN_FILE.suffix in asked["suffixes"]


def test_what_is_neither_an_executor_nor_a_client() -> None:
    with pytest.raises(TypeError, match=r"^executor is a concurrent.futures.Executor or a distributed.Client, not 5$"):
        results_elsewhere([[1]], partial(double, 2), 5, 1, in_order=True)  # type: ignore[arg-type]
