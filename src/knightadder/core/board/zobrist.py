"""Zobrist keys: one random number for each feature of a position, combined by exclusive or.

The features are pieces on squares, castling rights, the side to move, and the en passant square if a capture there is
legal. So equal keys mean equal positions in the sense of the repetition rule.
"""

import random

from ..layout import NO_SQUARE

SEED = 20_260_101  # any number; it is fixed so that each run has the same keys


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
