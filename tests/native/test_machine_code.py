"""Memory from which machine code can run."""

import ctypes
import platform

import pytest

from knightadder.native.machine_code import executable

# Machine code that returns 42.
RETURN_42 = {"x86_64": b"\xb8\x2a\x00\x00\x00\xc3", "aarch64": b"\x40\x05\x80\x52\xc0\x03\x5f\xd6"}
RETURN_42 |= {"amd64": RETURN_42["x86_64"], "arm64": RETURN_42["aarch64"]}


@pytest.mark.parametrize("size", [100, 5000])
def test_machine_code_can_be_run(size):
    code = RETURN_42[platform.machine().lower()]
    place = executable(code + bytes(size))
    assert place % 4096 == 0
    assert ctypes.string_at(place, len(code) + size) == code + bytes(size)
    assert ctypes.CFUNCTYPE(ctypes.c_int32)(place)() == 42
