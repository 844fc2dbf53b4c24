"""Sets of squares as 64-bit integers (bitboards), little-endian rank-file: bit 0 is a1, bit 63 is h8."""

import numpy as np

from knightadder.native.jit import inlined

ZERO, ONE = np.uint64(0), np.uint64(1)
SEVEN, EIGHT, NINE = np.uint64(7), np.uint64(8), np.uint64(9)

NOT_FILE_A = np.uint64(0xFEFEFEFEFEFEFEFE)
NOT_FILE_H = np.uint64(0x7F7F7F7F7F7F7F7F)
RANK_1 = np.uint64(0xFF)
RANK_3 = np.uint64(0x0000000000FF0000)
RANK_6 = np.uint64(0x0000FF0000000000)
RANK_1_8 = np.uint64(0xFF000000000000FF)
DARK_SQUARES = np.uint64(0xAA55AA55AA55AA55)
ALL_SQUARES = np.uint64(0xFFFFFFFFFFFFFFFF)


@inlined
def bit(square):
    """Return the bitboard of one square."""
    return ONE << np.uint64(square)


@inlined
def bit_at(bitboard, square):
    """Return 1 if a square is in the set, else 0."""
    return (bitboard >> np.uint64(square)) & ONE


@inlined
def rank_around(square):
    """Return the bitboard of the rank that a square is on."""
    return RANK_1 << np.uint64(square & 56)


@inlined
def without_lsb(bitboard):
    """Return a set without its lowest square. The set must not be empty."""
    return bitboard & (bitboard - ONE)
