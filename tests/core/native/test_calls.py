"""Calls: how Python's values reach the compiled code. `test_builder` has those whose result is of each kind."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np
import pytest

from knightadder.core.board.packed import PACKED
from knightadder.core.entries.game import list_moves
from knightadder.core.entries.packing import pack_position
from knightadder.core.layout import TABLES, WORKER, new_record
from knightadder.native import jit
from knightadder.native.calls import bind
from knightadder.native.signatures import float32, int64, pair, record_type, uint64, void

pytestmark = pytest.mark.skipif(jit.INTERPRETED, reason="nothing is compiled")

RECORD = np.dtype((np.record, [("first", np.int64), ("second", np.int64)]))


def address(function: object) -> int:
    """Give the address of a function of `ctypes`."""
    found = ctypes.cast(function, ctypes.c_void_p).value
    assert found is not None
    return found


def test_records_and_arrays_arrive_as_addresses_and_lengths() -> None:
    seen: list[tuple[object, ...]] = []
    places = ctypes.POINTER(ctypes.c_int64)

    @ctypes.CFUNCTYPE(None, places, places, places, ctypes.c_int64, ctypes.c_uint64)
    def note(record, row, table, number, bits):
        seen.append((record[0], row[0], row[1], table[0], table[1], table[2], number, bits))

    signature = void(record_type(RECORD), int64[::1], float32[:, ::1], int64, uint64)
    records, row, table = np.zeros(3, RECORD), np.zeros(7, np.int64), np.zeros((2, 5), np.float32)
    bind(signature, address(note))(records[1], row, table, np.int64(-3), (1 << 64) - 1)
    start = records.ctypes.data + RECORD.itemsize
    assert seen == [(start, row.ctypes.data, 7, table.ctypes.data, 2, 5, -3, (1 << 64) - 1)]


def test_results_come_back() -> None:
    @ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.POINTER(ctypes.c_int64))
    def halves(number, place):
        place[0], place[1] = number // 2, -number

    @ctypes.CFUNCTYPE(ctypes.c_uint64)
    def ones():
        return (1 << 64) - 1

    both = bind(pair(int64)(int64), address(halves))
    assert (both(6), both(8)) == ((3, -6), (4, -8))
    assert bind(uint64(), address(ones))() == (1 << 64) - 1
    assert bind(int64(), address(ones))() == -1


def test_arguments_of_other_types_do_not_reach_the_compiled_code() -> None:
    tables, worker = new_record(TABLES), new_record(WORKER)
    records = np.zeros(4, PACKED)
    calls: list[Callable[[], object]] = [
        lambda: list_moves(worker, worker),
        lambda: list_moves(tables, None),
        lambda: list_moves(tables),
        lambda: list_moves(tables, worker, 1),
        lambda: pack_position(worker, records[::2], 0, 0, 0, 0),
        lambda: pack_position(worker, np.zeros(2), 0, 0, 0, 0),
        lambda: pack_position(worker, records[:, None], 0, 0, 0, 0),
        lambda: pack_position(worker, records, 0.5, 0, 0, 0),
    ]
    for call in calls:
        with pytest.raises((TypeError, ctypes.ArgumentError)):
            call()
