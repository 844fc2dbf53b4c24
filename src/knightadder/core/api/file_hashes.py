"""The hashes for the checksums of Syzygy files; see `city_hash`."""

import numpy as np

from knightadder.native.signatures import int64, uint32, uint64, void

from ..compilation import core
from ..syzygy import city_hash
from ..syzygy.city_hash import CRC_TABLE, SHORTEST

city_hash_crc_256 = core.exported(void(uint32[:, ::1], uint64, int64, uint64, uint64[::1]))(city_hash.city_hash_crc_256)
city_hash_crc_128 = core.exported(void(uint64, int64, uint64[::1]))(city_hash.city_hash_crc_128)


def hash_256(data):
    """Hash contiguous bytes, an array of uint8, to 256 bits by CityHashCrc256; return four words of uint64."""
    seed = 0
    if len(data) < SHORTEST:
        seed = ~len(data) & 0xFFFFFFFF
        data = np.concatenate((data, np.zeros(SHORTEST - len(data), np.uint8)))
    words = np.empty(4, np.uint64)
    city_hash_crc_256(CRC_TABLE, np.uint64(data.ctypes.data), len(data), np.uint64(seed), words)
    return words


def hash_128(data):
    """Hash contiguous bytes, an array of uint8, to 128 bits by CityHashCrc128; return two words of uint64. The size
    must be a multiple of 32, as it is for a sequence of `hash_256` results.
    """
    if len(data) > 900:
        return hash_256(data)[2:]
    words = np.empty(2, np.uint64)
    city_hash_crc_128(np.uint64(data.ctypes.data), len(data), words)
    return words
