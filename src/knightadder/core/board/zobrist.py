"""Zobrist keys: one random number for each fact of a position, combined by exclusive or.

A position's key covers pieces, castling rights, side to move, and the en passant square only when a capture there is
legal, so that equal keys mean equal positions in the sense of the repetition rule.
"""

import random

from ..layout import NO_SQUARE

SEED = 20_260_101  # any fixed number: keys must not differ between runs


def fill_tables(tables):
    """Fill the Zobrist numbers of a TABLES record."""
    generator = random.Random(SEED)
    for color in (0, 1):
        for piece_type in range(1, 7):
            for square in range(64):
                tables.piece_square[color * 8 + piece_type][square].key = generator.getrandbits(64)
    for square in range(64):
        tables.zobrist_castling[square] = generator.getrandbits(64)
        tables.zobrist_ep[square] = generator.getrandbits(64)
    tables.zobrist_ep[NO_SQUARE] = 0
    tables.zobrist_stm = generator.getrandbits(64)
