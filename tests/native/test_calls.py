"""Calls: how Python's values reach the compiled code. `test_builder` has those whose result is of each kind."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from knightadder.native.calls import bind
from knightadder.native.signatures import float32, int64, pair, record_type, uint64, void

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
    @ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
    def unreachable(record, row, number):
        raise AssertionError

    function = bind(int64(record_type(RECORD), int64[::1], int64), address(unreachable))
    records, row = np.zeros(4, RECORD), np.zeros(8, np.int64)
    calls: list[tuple[object, ...]] = [
        (row, row, 1),
        (records[0], None, 1),
        (None, row, 1),
        (records[0], row),
        (records[0], row, 1, 1),
        (records, row, 1),
        (records[0], row[::2], 1),
        (records[0], np.zeros(8), 1),
        (records[0], row[:, None], 1),
        (records[0], row, 0.5),
    ]
    for arguments in calls:
        with pytest.raises((TypeError, ctypes.ArgumentError)):
            function(*arguments)


def test_ctrl_c_while_an_argument_is_passed_is_no_other_error() -> None:
    class Interrupted:
        def __array__(self, *_: object, **__: object) -> np.ndarray:
            raise KeyboardInterrupt

    function = bind(void(int64[::1]), address(ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: None)))
    with pytest.raises(KeyboardInterrupt):
        function(Interrupted())
