"""Large blocks of memory."""

import pytest

from knightadder.native.memory import HUGE_PAGE, zeroed_bytes


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
