"""The compile decorators and the intrinsics, each of which means the same compiled and interpreted."""

from __future__ import annotations

import random

import numpy as np
import pytest
from compiling import compiled

from knightadder.native import jit
from knightadder.native.program import BOUNDSCHECK

RECORD = np.dtype((np.record, np.dtype([("key", np.uint64), ("places", np.uint8, 64), ("side", np.int32)], align=True)))


# --- intrinsics ----------------------------------------------------------------------------------------------------

NUMBERS = [1, 2, 3, (1 << 63), (1 << 64) - 1, *(random.Random(1).getrandbits(64) for _ in range(50))]


@compiled
def popcount_and_lsb(bitboard):
    return jit.popcount(bitboard), jit.lsb(bitboard)


@compiled
def multiply_high(a, b):
    return jit.multiply_high(a, b)


@compiled
def exchange(address, value):
    jit.prefetch(address)
    old = jit.load64(address)
    jit.store64(address, value)
    return old


@compiled
def subtract(address, value):
    return jit.subtract64(address, value)


@compiled
def fetch(numbers, index):
    jit.prefetch_item(numbers, index)
    return numbers[index]


@compiled
def copy(target, source):
    jit.copy_record(target, source)


@pytest.mark.nojit
def test_popcount_and_lsb() -> None:
    assert popcount_and_lsb(np.uint64(0))[0] == 0
    for number in NUMBERS:
        lowest = next(i for i in range(64) if number >> i & 1)
        assert popcount_and_lsb(np.uint64(number)) == (f"{number:b}".count("1"), lowest)


@pytest.mark.nojit
def test_multiply_high() -> None:
    for a, b in zip(NUMBERS, reversed(NUMBERS), strict=True):
        assert int(multiply_high(np.uint64(a), np.uint64(b))) == a * b >> 64


@pytest.mark.nojit
def test_memory_is_read_and_written_at_its_address() -> None:
    words = np.array(NUMBERS, np.uint64)
    for i, number in enumerate(NUMBERS):
        assert int(exchange(np.uint64(words[i:].ctypes.data), np.uint64(number ^ 1))) == number
    assert [int(word) for word in words] == [number ^ 1 for number in NUMBERS]


@pytest.mark.nojit
def test_subtracting_gives_the_old_number() -> None:
    words = np.array([5, 100, -7], np.int64)
    address = np.uint64(words[1:].ctypes.data)
    assert [int(subtract(address, np.int64(64))) for _ in range(3)] == [100, 36, -28]
    assert words.tolist() == [5, -92, -7]


@pytest.mark.nojit
def test_fetching_ahead_changes_nothing() -> None:
    words = np.array(NUMBERS, np.uint64)
    assert [int(fetch(words, np.uint64(index))) for index in range(len(NUMBERS))] == NUMBERS


@pytest.mark.nojit
def test_records_are_copied_whole() -> None:
    source, target = np.zeros(2, RECORD)
    source.key, source.places[:], source.side = 1 << 63, np.arange(1, 65), -5
    copy(target, source)
    assert target.tobytes() == source.tobytes()
    source.places[5] = 0
    assert target.places[5] == 6


@compiled
def place_at(address, i):
    return jit.record_at(address, RECORD).places[np.uint64(i)]


@pytest.mark.nojit
def test_a_record_is_seen_at_its_address() -> None:
    records = np.zeros(1, RECORD)
    records[0].places[:] = np.arange(64)
    address = np.uint64(records.ctypes.data)
    assert [int(place_at(address, i)) for i in range(64)] == list(range(64))


@jit.kernel
def item_at(record, i):
    return record.places[np.uint64(i)]


@compiled
def read_item(record, i):
    return item_at(record, i)


@pytest.mark.boundscheck
@pytest.mark.skipif(not BOUNDSCHECK, reason="bounds are not checked")
def test_bounds_are_checked_inside_kernels() -> None:
    record = np.zeros(1, RECORD)[0]
    assert read_item(record, np.int64(63)) == 0
    with pytest.raises(IndexError):
        read_item(record, np.int64(64))
