"""A move in 16 bits: from | to << 6 | kind << 12; 0 is no move (or the null move).

Castling is written as king takes own rook, so that Chess960 needs nothing special.
"""

import numpy as np

from knightadder.native.jit import inlined

from ..layout import KNIGHT, QUEEN

NO_MOVE = np.int64(0)

# Kinds; those of promotions are the piece types knight = 2 … queen = 5. Typed, so that passing one as an argument
# does not make Numba compile a function again for a literal.
NORMAL, EN_PASSANT, CASTLING, DOUBLE_PUSH = np.int64(0), np.int64(6), np.int64(7), np.int64(8)


@inlined
def is_promotion(move):
    """Say whether a pawn promotes."""
    kind = (move >> 12) & 15
    return (kind >= KNIGHT) & (kind <= QUEEN)


@inlined
def is_noisy(pos, move):
    """Say whether a move captures or promotes."""
    kind = (move >> 12) & 15
    capture = (pos.board[(move >> 6) & 63] != 0) & (kind != CASTLING)
    return capture | ((kind >= KNIGHT) & (kind <= EN_PASSANT))
