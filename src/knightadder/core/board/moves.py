"""A move in 16 bits: from | (to << 6) | (kind << 12); 0 is no move or the null move. Castling is encoded as the king
taking its own rook, so that Chess960 needs no special case.
"""

import numpy as np

from knightadder.native.jit import inlined

from ..layout import KNIGHT, QUEEN

NO_MOVE = np.int64(0)

# Kinds of moves. The kind of a promotion is the type of the new piece, knight = 2 … queen = 5. The constants are typed,
# because Numba would compile a function again for each literal argument.
NORMAL, EN_PASSANT, CASTLING, DOUBLE_PUSH = np.int64(0), np.int64(6), np.int64(7), np.int64(8)


@inlined
def new_move(source, target, kind):
    """Return the move with these squares and this kind. For castling, `target` is the rook's square."""
    return source | (target << 6) | (kind << 12)


@inlined
def source_of(move):
    """Return the from-square of a move."""
    return move & 63


@inlined
def target_of(move):
    """Return the to-square of a move: in castling, the rook's square."""
    return (move >> 6) & 63


@inlined
def kind_of(move):
    """Return the kind of a move: one of the constants above, or the type of the new piece."""
    return (move >> 12) & 15


@inlined
def moved_type(pos, move):
    """Return the type of the piece that a move moves."""
    return np.int64(pos.board[source_of(move)]) & 7


@inlined
def is_promotion(move):
    """Return whether a pawn promotes."""
    kind = kind_of(move)
    return (kind >= KNIGHT) & (kind <= QUEEN)


@inlined
def is_noisy(pos, move):
    """Return whether a move captures or promotes."""
    kind = kind_of(move)
    capture = (pos.board[target_of(move)] != 0) & (kind != CASTLING)
    return capture | ((kind >= KNIGHT) & (kind <= EN_PASSANT))


@inlined
def same_target(move, other):
    """Return whether two moves go to the same square, as a capture and the recapture do."""
    return target_of(move) == target_of(other)
