"""SplitMix64: the numbers that its authors' program gives, for numbers and for arrays."""

import numpy as np
import pytest
from compiling import compiled

from knightadder.core.split_mix import split_mix

# The first numbers of state 0, as in the tests of many implementations, such as Java's SplittableRandom's and NumPy's.
OUTPUT = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F, 0xF88BB8A8724C81EC, 0x1B39896A51A8749B]


@compiled
def fill(seed, hashes):
    for number in range(len(hashes)):
        hashes[number] = split_mix(seed, np.uint64(number + 1))


@pytest.mark.nojit
def test_it_gives_the_published_numbers() -> None:
    hashes = np.zeros(5, np.uint64)
    fill(np.uint64(0), hashes)
    assert hashes.tolist() == OUTPUT


def test_arrays_are_hashed_item_by_item() -> None:
    numbers = np.arange(1, 6, dtype=np.uint64)
    assert split_mix(np.uint64(0), numbers).tolist() == OUTPUT
    seeds = np.array([0, 1, 0, 1, 0], np.uint64)
    seeded = split_mix(seeds, numbers).tolist()
    assert seeded[::2] == OUTPUT[::2]
    assert seeded[1::2] == split_mix(np.uint64(1), numbers[1::2]).tolist()
