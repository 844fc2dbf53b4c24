"""The numbering of positions in Syzygy tablebases.

The pieces of a position are numbered in groups. The *leading* group comes first and removes the symmetry of the board.

- Without pawns, the leading group has three pieces that are the only ones of their kind, or else the two kings. The
  board is mirrored so that the first of these pieces stands in the triangle a1-d1-d4. If it stands on the diagonal
  a1-h8, the first piece of the group that is off the diagonal must stand below it.
- With pawns, the leading group has the pawns of one side. Its *leading pawn* is the pawn nearest to the edge and, on
  that file, to its first rank. The board is mirrored so that the leading pawn stands on files a to d.

Each later group is a set of equal pieces. The number of the group is the index of the set of squares on which it
stands, among all sets of that many free squares (combinatorial number system). The number of a position is the sum of
the groups' numbers, each multiplied by a factor.
The order is Ronald de Man's (https://github.com/syzygy1/tb).
"""

from math import comb

import numpy as np

from knightadder.native.jit import inlined, kernel, lsb, popcount

from ..board.bitboard import ONE, ZERO, bit, without_lsb
from ..layout import PAWN

MAX_MEN = 7  # maximum number of men in a tablebase, including the kings
MAX_PAWNS = MAX_MEN - 2

# Numbers of squares below the diagonal: in the triangle, and on the whole board.
TRIANGLE, BELOW_DIAGONAL = 6, 28

# Numbers of placements of a leading group of three pieces, by which of them is the first one off the diagonal.
_FIRST_OFF = TRIANGLE * 63 * 62
_SECOND_OFF = 4 * BELOW_DIAGONAL * 62
_THIRD_OFF = 4 * 7 * BELOW_DIAGONAL
PLACEMENTS_OF_THREE = _FIRST_OFF + _SECOND_OFF + _THIRD_OFF + 4 * 7 * 6
PLACEMENTS_OF_KINGS = 462

_EVEN_NUMBERS = np.uint64(0x5555555555555555)
_MIRROR_FILES, _MIRROR_RANKS = 7, 56  # masks that mirror a square by exclusive or


@inlined
def _diagonal_side(square):
    """Return 0 for a square on the diagonal a1-h8, and a negative number for a square below it."""
    return (square >> 3) - (square & 7)


@inlined
def _mirrored(square, mirror, swap):
    square ^= mirror
    if swap:
        return (square >> 3) | ((square & 7) << 3)
    return square


@inlined
def _number_below(square, width):
    """Return the number of a square among the squares below the diagonal, counted rank by rank. `width` is 8 for the
    whole board, or the number of files of its left part.
    """
    rank = square >> 3
    return rank * (2 * width - 1 - rank) // 2 + (square & 7) - rank - 1


@inlined
def _triangle_number(square):
    """Return the number of a square in the triangle a1-d1-d4; the diagonal comes after the squares below it."""
    return TRIANGLE + (square & 7) if _diagonal_side(square) == 0 else _number_below(square, 4)


@inlined
def _number_of_three(a, b, c):
    # The count skips the squares of the earlier pieces.
    skip_b = np.int64(b > a)
    skip_c = np.int64(c > a) + np.int64(c > b)
    if _diagonal_side(a):
        return (_triangle_number(a) * 63 + b - skip_b) * 62 + c - skip_c
    if _diagonal_side(b):
        return _FIRST_OFF + ((a & 7) * BELOW_DIAGONAL + _number_below(b, 8)) * 62 + c - skip_c
    number = _FIRST_OFF + _SECOND_OFF
    if _diagonal_side(c):
        return number + ((a & 7) * 7 + (b & 7) - skip_b) * BELOW_DIAGONAL + _number_below(c, 8)
    return number + _THIRD_OFF + ((a & 7) * 7 + (b & 7) - skip_b) * 6 + (c & 7) - skip_c


@inlined
def _pieces_of(pos, piece):
    return pos.by_type[piece & 7] & pos.by_color[piece >> 3]


@inlined
def _pawn_order(square):
    """Return the number of a pawn's square, 0 to 47, from the edges inwards and by rank. Even numbers are on the left
    half of the board, odd numbers on the right half.
    """
    file = square & 7
    right = file >> 2
    return 12 * (file ^ (7 * right)) + 2 * (square >> 3) - 2 + right


@inlined
def lead_pawns(pos, piece, mirror):
    """Return the leading pawns as a set of their numbers (`_pawn_order`). The lowest number is the leading pawn's."""
    pawns = _pieces_of(pos, piece)
    numbers = ZERO
    while pawns:
        numbers |= bit(_pawn_order(lsb(pawns) ^ mirror))
        pawns = without_lsb(pawns)
    return numbers


@kernel
def _number_of_groups(tablebases, pairs, pos, colors, start, used, mirror, swap):
    """Return the index contribution of all groups after the leading one. `start` is the index of the first of their
    pieces, and `used` is the set of squares of the pieces before it.
    """
    index = np.int64(0)
    group = np.int64(1)
    while start < MAX_MEN and pairs.groups[group]:
        piece = np.int64(pairs.pieces[start]) ^ colors
        pieces = _pieces_of(pos, piece)
        squares = ZERO
        while pieces:
            squares |= bit(_mirrored(lsb(pieces), mirror, swap))
            pieces = without_lsb(pieces)
        # Pawns cannot stand on the first rank, so its squares are not counted.
        skip = np.int64(8) if piece & 7 == PAWN else np.int64(0)
        number = np.int64(0)
        k = np.int64(1)
        left = squares
        while left:
            square = lsb(left)
            free = square - popcount(used & (bit(square) - ONE)) - skip
            number += tablebases.binomials[k, free]
            k += 1
            left = without_lsb(left)
        index += number * pairs.factors[group]
        used |= squares
        start += np.int64(pairs.groups[group])
        group += 1
    return index


@kernel
def piece_index(tablebases, pairs, pos, colors):
    """Return the index of a position without pawns in the array `pairs`, which must be for the same pieces. `colors` is
    8 if the table's White is Black in the position, else 0.
    """
    first = lsb(_pieces_of(pos, np.int64(pairs.pieces[0]) ^ colors))
    second = lsb(_pieces_of(pos, np.int64(pairs.pieces[1]) ^ colors))
    third = lsb(_pieces_of(pos, np.int64(pairs.pieces[2]) ^ colors))
    three = pairs.groups[0] == 3
    mirror = np.int64(0)
    if first & 4:
        mirror ^= _MIRROR_FILES
    if first & 32:
        mirror ^= _MIRROR_RANKS
    side = _diagonal_side(first ^ mirror)
    if side == 0:
        side = _diagonal_side(second ^ mirror)
    if side == 0 and three:
        side = _diagonal_side(third ^ mirror)
    swap = np.int64(side > 0)
    first, second = _mirrored(first, mirror, swap), _mirrored(second, mirror, swap)
    used = bit(first) | bit(second)
    if three:
        third = _mirrored(third, mirror, swap)
        used |= bit(third)
        number = _number_of_three(first, second, third)
    else:
        number = np.int64(tablebases.kings[_triangle_number(first), second])
    start = np.int64(pairs.groups[0])
    rest = _number_of_groups(tablebases, pairs, pos, colors, start, used, mirror, swap)
    return number * pairs.factors[0] + rest


@kernel
def pawn_index(tablebases, pairs, pos, colors, lead):
    """Return the index of a position with pawns, as `piece_index` does; `lead` is the result of `lead_pawns`."""
    mirror = np.int64(_MIRROR_RANKS if colors else 0)
    if lsb(lead) & 1:
        mirror ^= _MIRROR_FILES
        lead = ((lead >> ONE) & _EVEN_NUMBERS) | ((lead & _EVEN_NUMBERS) << ONE)
    k = popcount(lead) - 1
    number = tablebases.lead_pawns[k, lsb(lead) >> 1]
    others = without_lsb(lead)
    while others:
        number += tablebases.binomials[k, 47 - lsb(others)]
        k -= 1
        others = without_lsb(others)
    used = ZERO
    pawns = _pieces_of(pos, np.int64(pairs.pieces[0]) ^ colors)
    while pawns:
        used |= bit(lsb(pawns) ^ mirror)
        pawns = without_lsb(pawns)
    start = np.int64(pairs.groups[0])
    rest = _number_of_groups(tablebases, pairs, pos, colors, start, used, mirror, np.int64(0))
    return number * pairs.factors[0] + rest


# --- filling the tables, once, in Python ---------------------------------------------------------------------------


def lead_placements(pawns, file):
    """Return the number of placements of equal pawns whose leading pawn is on a file, 0 to 3 from the edge."""
    return sum(comb(47 - 2 * square, pawns - 1) for square in range(6 * file, 6 * file + 6))


def fill_tables(tablebases):
    """Fill the tables for numbering positions in a TABLEBASES record."""
    for k in range(MAX_MEN):
        tablebases.binomials[k] = [comb(n, k) for n in range(64)]
    for others in range(MAX_PAWNS):
        for square in range(24):
            # Placements whose leading pawn is on an earlier square of the same file come first.
            earlier = range(square - square % 6, square)
            tablebases.lead_pawns[others][square] = sum(comb(47 - 2 * s, others) for s in earlier)
    _number_kings(tablebases.kings)


def _number_kings(numbers):
    numbers[:] = -1
    triangle = sorted(
        (s for s in range(32) if s & 7 < 4 and _diagonal_side(s) <= 0), key=lambda s: (_diagonal_side(s) == 0, s)
    )
    placements = [
        (i, second)
        for i, first in enumerate(triangle)
        for second in range(64)
        if max(abs((first & 7) - (second & 7)), abs((first >> 3) - (second >> 3))) > 1
        and not (_diagonal_side(first) == 0 and _diagonal_side(second) > 0)
    ]
    # Placements with both kings on the diagonal come last.
    placements.sort(key=lambda placement: placement[0] >= TRIANGLE and _diagonal_side(placement[1]) == 0)
    for number, (i, second) in enumerate(placements):
        numbers[i][second] = number
