"""Position keys of opening books in Polyglot's format: the exclusive or of up to 781 random numbers.

Polyglot counts the en passant square if a pawn stands beside the pawn that moved. Here the square counts only if a
capture on it is legal, because a position keeps no other en passant square.
"""

import numpy as np

from knightadder.native.jit import kernel, lsb

from ..layout import NO_SQUARE, WHITE
from .attacks import king_square
from .bitboard import ZERO, without_lsb

# Index of the first random number for castling rights, of the first for en passant files, and of the one for White to
# move.
_CASTLING, _EN_PASSANT, _WHITE_TO_MOVE = 768, 772, 780


@kernel
def polyglot_key(pos, numbers):
    """Return the key of a position; `numbers` are Polyglot's 781 random numbers."""
    key = ZERO
    squares = pos.by_type[0]
    while squares:
        square = lsb(squares)
        piece = np.int64(pos.board[square])
        kind = 2 * ((piece & 7) - 1) + (1 if piece >> 3 == WHITE else 0)
        key ^= numbers[64 * kind + square]
        squares = without_lsb(squares)
    rooks = pos.castling
    while rooks:
        rook = lsb(rooks)
        color = np.int64(pos.board[rook]) >> 3
        key ^= numbers[_CASTLING + 2 * color + (0 if rook > king_square(pos, color) else 1)]
        rooks = without_lsb(rooks)
    if pos.ep != NO_SQUARE:
        key ^= numbers[_EN_PASSANT + (np.int64(pos.ep) & 7)]
    if pos.stm == WHITE:
        key ^= numbers[_WHITE_TO_MOVE]
    return key
