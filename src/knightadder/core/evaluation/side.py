"""Helpers of the classical evaluation: directions by side, the record of a side, and the counting of terms."""

import numpy as np

from knightadder.native.jit import inlined, lsb, msb
from knightadder.native.records import record

from ..board.bitboard import EIGHT, NINE, NOT_FILE_A, NOT_FILE_H, ONE, SEVEN, ZERO, bit_at

SIDE = record(  # data of one side that the classical evaluation collects in a position
    ("attacks", np.uint64, 7),  # squares attacked, by piece type; [0] = by any piece
    ("attacked_twice", np.uint64),
    ("pawn_span", np.uint64),  # squares that its pawns attack, or can attack after advancing
    ("mobility_area", np.uint64),  # squares that count for the mobility of its pieces
    ("king_ring", np.uint64),  # its king's square and those around it
    ("danger", np.int64),  # attack units against its king
)

FILE_A = np.uint64(0x0101010101010101)
ONCE = np.int64(1)  # typed, because Numba would compile `worth` again for a literal 1
_SIXTEEN, _THIRTY_TWO = np.uint64(16), np.uint64(32)


@inlined
def worth(tables, trace, side, place, number):
    """Return `number` times the packed value of a term, and add `number` to the trace's count. `place` is the index of
    the value among all terms. In search, `trace` is None, and the compiler leaves out the counting.
    """
    if trace is not None:
        trace.counts[side, place] += number
    return tables.terms[place] * number


@inlined
def rank_of(side, square):
    """Return the rank of a square from 0 to 7, from a side's point of view."""
    return (square >> 3) ^ (7 * side)


@inlined
def forward(side, squares):
    """Return the squares one step ahead of the given squares."""
    return squares << EIGHT if side == 0 else squares >> EIGHT


@inlined
def attacked_twice_by_pawns(side, pawns):
    """Return the squares that two pawns of a side attack."""
    if side == 0:
        return ((pawns & NOT_FILE_A) << SEVEN) & ((pawns & NOT_FILE_H) << NINE)
    return ((pawns & NOT_FILE_A) >> NINE) & ((pawns & NOT_FILE_H) >> SEVEN)


@inlined
def fill_forward(side, squares):
    """Return the given squares and all squares ahead of them on their files."""
    if side == 0:
        squares |= squares << EIGHT
        squares |= squares << _SIXTEEN
        return squares | (squares << _THIRTY_TWO)
    squares |= squares >> EIGHT
    squares |= squares >> _SIXTEEN
    return squares | (squares >> _THIRTY_TWO)


@inlined
def fill_files(squares):
    """Return the whole files of the given squares."""
    return fill_forward(np.int64(0), squares) | fill_forward(np.int64(1), squares)


@inlined
def beside(squares):
    """Return the squares to the left and right of the given squares."""
    return ((squares & NOT_FILE_A) >> ONE) | ((squares & NOT_FILE_H) << ONE)


@inlined
def file_of(file):
    """Return the squares of a file, numbered from 0 to 7."""
    return FILE_A << np.uint64(file)


@inlined
def hindmost(side, squares):
    """Return the square of a set that is nearest to a side's first rank."""
    return lsb(squares) if side == 0 else msb(squares)


@inlined
def distance(one, other):
    """Return the number of king steps between two squares (Chebyshev distance)."""
    return max(abs((one & 7) - (other & 7)), abs((one >> 3) - (other >> 3)))


@inlined
def is_in(squares, square):
    """Return whether a square is in a set."""
    return bit_at(squares, square) != ZERO
