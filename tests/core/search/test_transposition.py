"""The transposition table: what is stored comes back, and what should be replaced is."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest
from compiling import compiled

from knightadder.core.layout import MAX_PLY
from knightadder.core.search import transposition as tt
from knightadder.core.worker import WORKER
from knightadder.engine.hashtable import HashTable
from knightadder.native.records import new_record

pytestmark = [pytest.mark.boundscheck, pytest.mark.nojit]

EXACT, LOWER, UPPER = int(tt.EXACT), int(tt.LOWER), int(tt.UPPER)
MATE, TABLEBASE_WIN = int(tt.MATE), int(tt.TABLEBASE_WIN)

Entry = tuple[int, int, int, int]


@compiled
def put(worker, key, move, score, depth, bound, ply, was_pv):
    tt.store(worker, key, move, score, depth, bound, ply, was_pv)


@compiled
def get(worker, key, ply):
    tt.prefetch_entry(worker, key)
    data = tt.probe(worker, key)
    return data, tt.entry_move(data), tt.entry_score(data, ply), tt.entry_depth(data), tt.entry_bound(data)


@compiled
def generation(worker, key):
    return tt.entry_generation(tt.probe(worker, key))


class Table:
    """A worker with a table of 1 MB."""

    def __init__(self) -> None:
        self.memory = HashTable(1)
        self.worker = new_record(WORKER)
        self.worker.tt_address, self.worker.tt_buckets = self.memory.address, self.memory.buckets

    def put(
        self, key: int, move: int, score: int, depth: int, bound: int = EXACT, ply: int = 0, was_pv: int = 0
    ) -> None:
        numbers = (np.int64(number) for number in (move, score, depth, bound, ply, was_pv))
        put(self.worker, np.uint64(key), *numbers)

    def get(self, key: int, ply: int = 0) -> Entry | None:
        """Give move, score, depth and bound, or None."""
        data, *fields = get(self.worker, np.uint64(key), np.int64(ply))
        move, score, depth, bound = (int(field) for field in fields)
        return (move, score, depth, bound) if data else None

    def new_search(self) -> None:
        self.memory.age()
        self.worker.tt_generation = self.memory.generation

    @property
    def words(self) -> np.ndarray:
        return self.memory._words


@pytest.fixture
def table() -> Iterator[Table]:
    yield Table()


def bucket_mates(count: int) -> list[int]:
    """Keys of one bucket: the high bits choose it."""
    return [(0x123456789ABC << 16) + number for number in range(count)]


def test_all_fields_come_back(table: Table) -> None:
    generator = random.Random(1)
    stored = {}
    for _ in range(100):
        key = generator.getrandbits(64)
        bound = generator.choice((UPPER, LOWER, EXACT))
        entry = (generator.getrandbits(16), generator.randint(-31_000, 31_000), generator.randint(1, 255), bound)
        table.worker.tt_generation = number = generator.randrange(tt.GENERATIONS)
        table.put(key, *entry)
        stored[key] = (entry, number)
    for key, (entry, number) in stored.items():
        assert table.get(key) == entry
        assert generation(table.worker, np.uint64(key)) == number
    assert table.get(generator.getrandbits(64)) is None


@pytest.mark.parametrize(
    ("score", "stored_at", "seen_from", "expected"),
    [
        (MATE - 5, 2, 2, MATE - 5),
        (MATE - 5, 2, 4, MATE - 7),  # mate three plies from the position, whatever the way to it
        (MATE - 5, 4, 2, MATE - 3),
        (9 - MATE, 3, 5, 11 - MATE),
        (9 - MATE, 9, 0, 0 - MATE),  # mated in the position itself
        (MATE - MAX_PLY + 1, 0, 5, MATE - MAX_PLY),  # a mate stays one, however far away
        (MAX_PLY - MATE - 1, 0, 5, MAX_PLY - MATE),
        (TABLEBASE_WIN - 7, 7, 5, TABLEBASE_WIN - 5),
        (7 - TABLEBASE_WIN, 7, 9, 9 - TABLEBASE_WIN),
        (TABLEBASE_WIN - MAX_PLY, 0, 5, TABLEBASE_WIN - MAX_PLY),
        (29_000, 2, 7, 29_000),
        (-29_000, 2, 7, -29_000),
    ],
)
def test_mates_are_counted_from_the_position(
    table: Table, score: int, stored_at: int, seen_from: int, expected: int
) -> None:
    table.put(77, 1, score, 3, EXACT, stored_at)
    entry = table.get(77, seen_from)
    assert entry is not None and entry[1] == expected


def test_the_shallowest_of_a_full_bucket_is_replaced(table: Table) -> None:
    *keys, fresh = bucket_mates(5)
    for key, depth in zip(keys, (9, 4, 7, 8), strict=True):
        table.put(key, 1, 0, depth)
    table.put(fresh, 1, 0, 1)
    assert [table.get(key) is not None for key in [*keys, fresh]] == [True, False, True, True, True]


def test_a_search_of_age_is_worth_eight_plies(table: Table) -> None:
    *keys, fresh, another = bucket_mates(6)
    table.put(keys[0], 1, 0, 15)
    table.put(keys[1], 1, 0, 17)
    table.new_search()
    for key in keys[2:]:
        table.put(key, 1, 0, 8)
    table.put(fresh, 1, 0, 10)  # 15 - 8 is the least
    assert [table.get(key) is not None for key in keys] == [False, True, True, True]
    table.put(another, 1, 0, 1)  # now 8 is, which is less than 17 - 8
    assert [table.get(key) is not None for key in keys[1:]] == [True, False, True]


def test_age_wraps_around(table: Table) -> None:
    *keys, fresh = bucket_mates(5)
    for _ in range(tt.GENERATIONS - 1):
        table.new_search()
    table.put(keys[0], 1, 0, 20)
    for _ in range(3):
        table.new_search()
    assert table.worker.tt_generation == 2
    for key in keys[1:]:
        table.put(key, 1, 0, 1)
    table.put(fresh, 1, 0, 1)
    assert table.get(keys[0]) is None


def test_a_much_deeper_result_of_the_same_search_stays_with_the_new_move(table: Table) -> None:
    table.put(5, 11, 100, 10, LOWER)
    table.put(5, 12, 200, 5, LOWER)
    assert table.get(5) == (12, 100, 10, LOWER)
    table.put(5, 0, 300, 5, UPPER)
    assert table.get(5) == (12, 100, 10, LOWER)
    table.put(5, 13, 300, 6, LOWER)  # not much shallower
    assert table.get(5) == (13, 300, 6, LOWER)
    table.put(5, 14, 400, 1, EXACT)  # exact
    assert table.get(5) == (14, 400, 1, EXACT)
    table.put(5, 15, 500, 20, LOWER)
    table.new_search()
    table.put(5, 16, 600, 1, UPPER)  # of a new search
    assert table.get(5) == (16, 600, 1, UPPER)


def test_torn_entries_are_not_found(table: Table) -> None:
    table.put(5, 11, 100, 6)
    [first, second] = np.flatnonzero(table.words)
    assert (first % 2, second) == (0, first + 1)
    for word in (first, second):
        for bit in range(64):
            table.words[word] ^= np.uint64(1 << bit)
            assert table.get(5) is None
            table.words[word] ^= np.uint64(1 << bit)
    assert table.get(5) == (11, 100, 6, EXACT)


def test_buckets_are_whole_cache_lines_within_the_table(table: Table) -> None:
    assert table.memory.address % tt.BUCKET_BYTES == 0
    words = tt.BUCKET_BYTES // 8
    for key, bucket in ((1, 0), (1 << 63, table.memory.buckets // 2), ((1 << 64) - 1, table.memory.buckets - 1)):
        table.memory.clear()
        table.put(key, 1, 1, 1)
        assert np.flatnonzero(table.words)[0] == bucket * words
