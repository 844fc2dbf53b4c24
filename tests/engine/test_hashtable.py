"""The hash table's memory."""

import ctypes
import math
import threading
from collections.abc import Callable

import numpy as np
import pytest

from knightadder.core.search.transposition import BUCKET_BYTES, GENERATION_SHIFT, GENERATIONS
from knightadder.engine.hashtable import HashTable
from knightadder.native import memory


def words(table: HashTable) -> np.ndarray:
    """Give the table's memory as the core sees it."""
    return np.ctypeslib.as_array((ctypes.c_uint64 * (table.buckets * BUCKET_BYTES // 8)).from_address(table.address))


@pytest.mark.parametrize("megabytes", [1, 2, 3, 7, 64])
def test_a_table_has_its_size_lies_on_cache_lines_and_is_empty(megabytes: int) -> None:
    table = HashTable(megabytes)
    assert table.buckets * BUCKET_BYTES == megabytes << 20
    assert table.address % BUCKET_BYTES == 0
    assert not words(table).any()
    assert table.permille_full() == 0


@pytest.mark.parametrize("megabytes", [1, 16, 33, 50])
@pytest.mark.parametrize("available", [0, 1, 100])
def test_clear_forgets_everything(monkeypatch: pytest.MonkeyPatch, megabytes: int, available: int) -> None:
    monkeypatch.setattr(threading.Thread, "start", start_at_most(available))
    monkeypatch.setattr(memory, "processors", lambda: 3)
    table = HashTable(megabytes)
    for _ in range(2):
        words(table)[:] = 3
        table.age()
        table.clear()
        assert not words(table).any()
        assert table.generation == 0


def start_at_most(count: int) -> Callable[[threading.Thread], None]:
    """Give a `Thread.start` that fails after so many threads."""
    start, numbers = threading.Thread.start, iter(range(count))

    def start_or_fail(thread: threading.Thread) -> None:
        if next(numbers, None) is None:
            raise RuntimeError("can't start new thread")
        start(thread)

    return start_or_fail


@pytest.fixture
def slow_table(monkeypatch: pytest.MonkeyPatch) -> HashTable:
    """A table of 64 MB in which two threads clear 8 MB each at a time, the first of them once their end is awaited."""
    go_on, wait = threading.Event(), memory.Clearing.wait

    def wait_and_let_go_on(clearing: memory.Clearing, timeout: float = math.inf) -> bool:
        if timeout:
            go_on.set()
        return wait(clearing, timeout)

    class Slow(np.ndarray):
        def fill(self, value: object) -> None:
            assert go_on.wait(60)
            super().fill(value)

    monkeypatch.setattr(memory.Clearing, "wait", wait_and_let_go_on)
    monkeypatch.setattr(memory, "processors", lambda: 2)
    table = HashTable(64)
    words(table)[:] = 3
    table._words = table._words.view(Slow)
    table.begin_clearing()
    assert not table.wait(0)
    return table


def test_clearing_that_is_stopped_is_done_anew(slow_table: HashTable) -> None:
    slow_table.stop_clearing()
    assert slow_table.wait()
    assert np.count_nonzero(words(slow_table)) >= len(words(slow_table)) * 3 // 4  # the rest was left
    slow_table.begin_clearing()
    assert slow_table.wait()
    assert not words(slow_table).any()


def test_permille_counts_what_this_search_stored() -> None:
    table = HashTable(1)
    table.age()
    data = words(table)[1::2]  # the second word of each entry
    data[::4] = 5 | table.generation << GENERATION_SHIFT | 1 << 46  # with a bound above the generation
    assert table.permille_full() == 250
    data[1::4] = 5 | (table.generation + 1) << GENERATION_SHIFT
    assert table.permille_full() == 250
    table.age()
    assert table.permille_full() == 250
    table.age()
    assert table.permille_full() == 0


def test_generations_come_round() -> None:
    table = HashTable(1)
    seen = []
    for _ in range(GENERATIONS):
        seen.append(table.generation)
        table.age()
    assert table.generation == 0
    assert len(set(seen)) == GENERATIONS
