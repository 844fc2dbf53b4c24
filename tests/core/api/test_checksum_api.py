"""CityHash: the values that the C code of Geoff Pike and Jyrki Alakuijala gives, in the version that Syzygy uses."""

from __future__ import annotations

import numpy as np
import pytest

from knightadder.core.api.file_hashes import hash_128, hash_256

pytestmark = [
    pytest.mark.boundscheck,
    pytest.mark.nojit,
    pytest.mark.filterwarnings("ignore:overflow encountered in scalar (add|multiply):RuntimeWarning"),
]

_PLACES = np.arange(928)
BYTES = ((_PLACES * _PLACES + 3 * _PLACES) % 251).astype(np.uint8)


def hexadecimal(words: np.ndarray) -> str:
    return " ".join(f"{int(word):016x}" for word in words)


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (100, "e37889a1f47b2f6a ded68775467f0be1 83670b4ea81af8b8 bdf6362998c72579"),
        (241, "287178bf5f27037d 957350415073f343 e842166c854a230b da52492d448547f0"),
    ],
)
def test_256_bits(size: int, expected: str) -> None:
    assert hexadecimal(hash_256(BYTES[:size])) == expected


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (32, "110198ba37b3327e 0974ab0baaaef9f0"),
        (64, "9be0cf23a6c064da 73184975943fe66d"),
        (128, "96895a18b21dd8a8 8772fface2bf7801"),
        (160, "5266a44c66310c64 baac5ee1bd4037ac"),
        (192, "0786e125e83b58e8 75797414a93dbcbf"),
        (480, "cea4ce3d781dfbc1 9641ffa3bebbd7f7"),
        (896, "b57f15a36d324596 a33e1bed2f60636e"),
        (928, "9743ad83fb8c6a81 e96da06edcf4ca51"),
    ],
)
def test_128_bits(size: int, expected: str) -> None:
    assert hexadecimal(hash_128(BYTES[:size])) == expected
