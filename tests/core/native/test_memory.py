"""Memory from the operating system."""

import ctypes
import platform

import pytest

from knightadder.core.native.memory import HUGE_PAGE, executable, zeroed_bytes


@pytest.mark.parametrize("size", [1, HUGE_PAGE - 1, HUGE_PAGE, 3 * HUGE_PAGE + 5])
def test_a_block_is_zeroed_aligned_and_writable(size):
    block = zeroed_bytes(size)
    assert block.shape == (size,)
    assert block.ctypes.data % HUGE_PAGE == 0
    assert not block.any()
    block[:] = 255
    assert block.sum(dtype=int) == 255 * size


def test_blocks_are_apart():
    first, second = zeroed_bytes(HUGE_PAGE), zeroed_bytes(HUGE_PAGE)
    first[:] = 1
    assert not second.any()


@pytest.mark.parametrize("size", [1 << 60, 1 << 80])
def test_too_much_is_a_memory_error(size):
    with pytest.raises(MemoryError):
        zeroed_bytes(size)


# Machine code that returns 42.
RETURN_42 = {"x86_64": b"\xb8\x2a\x00\x00\x00\xc3", "aarch64": b"\x40\x05\x80\x52\xc0\x03\x5f\xd6"}
RETURN_42 |= {"amd64": RETURN_42["x86_64"], "arm64": RETURN_42["aarch64"]}


@pytest.mark.parametrize("size", [100, 5000])
def test_machine_code_can_be_run(size):
    code = RETURN_42[platform.machine().lower()]
    block = executable(code + bytes(size))
    assert block.ctypes.data % 4096 == 0
    assert block.tobytes() == code + bytes(size)
    assert ctypes.CFUNCTYPE(ctypes.c_int32)(block.ctypes.data)() == 42
