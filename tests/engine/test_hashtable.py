"""The hash table's memory."""

import ctypes
from pathlib import Path

import numpy as np
import pytest

from knightadder.core.search.transposition import BUCKET_BYTES, GENERATION_SHIFT, GENERATIONS
from knightadder.engine import hashtable
from knightadder.engine.errors import OptionError
from knightadder.engine.hashtable import HashTable


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


@pytest.mark.parametrize(("megabytes", "threads"), [(1, 1), (1, 8), (33, 2), (50, 3)])
def test_clear_forgets_everything(megabytes: int, threads: int) -> None:
    table = HashTable(megabytes)
    words(table)[:] = 3
    table.age()
    table.clear(threads)
    assert not words(table).any()
    assert table.generation == 0


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


@pytest.mark.parametrize(("limit", "most"), [(str(8 << 20), 8), ("max", 64), ("", 64)])
def test_a_container_has_as_much_memory_as_its_limit(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, limit: str, most: int
) -> None:
    file = tmp_path / "memory.max"
    file.write_text(f"{limit}\n")
    monkeypatch.setattr(hashtable, "_CONTAINER_LIMITS", (tmp_path / "missing", file))
    assert HashTable(most).megabytes == most
    if most < 64:
        with pytest.raises(OptionError, match=r"^not enough memory for a hash table of 9 MB$"):
            HashTable(9)


def test_too_large_a_table_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OptionError, match=r"^not enough memory for a hash table of 33554432 MB$"):
        HashTable(33_554_432)

    def no_memory(*arguments: object) -> None:
        raise MemoryError

    monkeypatch.setattr(hashtable, "zeroed_bytes", no_memory)
    with pytest.raises(OptionError, match=r"^not enough memory for a hash table of 1 MB$"):
        HashTable(1)
