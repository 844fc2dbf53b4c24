"""The squares that pieces attack, and the pieces that give check or are pinned."""

import numpy as np

from knightadder.native.jit import inlined, lsb
from knightadder.native.records import record

from ..layout import BISHOP, KING, KNIGHT, PAWN, QUEEN, ROOK
from . import magics
from .bitboard import NINE, NOT_FILE_A, NOT_FILE_H, SEVEN, ZERO, bit, without_lsb
from .moves import moved_type, target_of

SLIDER_ENTRIES = 102_400 + 5_248  # number of attack sets of rooks plus number of attack sets of bishops

MAGIC = record(
    ("mask", np.uint64),
    ("factor", np.uint64),
    ("shift", np.uint64),
    ("offset", np.uint64),
)

ROOK_DIRECTIONS = ((1, 0), (-1, 0), (0, 1), (0, -1))
BISHOP_DIRECTIONS = ((1, 1), (1, -1), (-1, 1), (-1, -1))
KNIGHT_STEPS = ((1, 2), (2, 1), (-1, 2), (-2, 1), (1, -2), (2, -1), (-1, -2), (-2, -1))


@inlined
def rook_attacks(tables, square, occupied):
    """Return the squares that a rook attacks, given the occupied squares (magic bitboards)."""
    magic = tables.rook[square]
    return tables.slider[magic.offset + (((occupied & magic.mask) * magic.factor) >> magic.shift)]


@inlined
def bishop_attacks(tables, square, occupied):
    """Return the squares that a bishop attacks, given the occupied squares (magic bitboards)."""
    magic = tables.bishop[square]
    return tables.slider[magic.offset + (((occupied & magic.mask) * magic.factor) >> magic.shift)]


@inlined
def diagonal_sliders(pos):
    """Return the bishops and queens of both sides."""
    return pos.by_type[BISHOP] | pos.by_type[QUEEN]


@inlined
def straight_sliders(pos):
    """Return the rooks and queens of both sides."""
    return pos.by_type[ROOK] | pos.by_type[QUEEN]


@inlined
def king_square(pos, color):
    """Return the square of a side's king."""
    return lsb(pos.by_type[KING] & pos.by_color[color])


@inlined
def pawn_attacks(side, pawns):
    """Return the squares that pawns of a side attack."""
    if side == 0:
        return ((pawns & NOT_FILE_A) << SEVEN) | ((pawns & NOT_FILE_H) << NINE)
    return ((pawns & NOT_FILE_A) >> NINE) | ((pawns & NOT_FILE_H) >> SEVEN)


@inlined
def attacks_of(tables, piece_type, square, occupied):
    """Return the squares that a piece other than a pawn attacks."""
    if piece_type == KNIGHT:
        return tables.knight[square]
    if piece_type == BISHOP:
        return bishop_attacks(tables, square, occupied)
    if piece_type == ROOK:
        return rook_attacks(tables, square, occupied)
    if piece_type == QUEEN:
        return bishop_attacks(tables, square, occupied) | rook_attacks(tables, square, occupied)
    return tables.king[square]


@inlined
def is_attacked(tables, pos, square, occupied, by):
    """Return whether side `by` attacks a square, given the occupied squares."""
    enemies = pos.by_color[by]
    leapers = (
        (tables.knight[square] & pos.by_type[KNIGHT])
        | (tables.king[square] & pos.by_type[KING])
        | (tables.pawn[by ^ 1, square] & pos.by_type[PAWN])
    )
    if leapers & enemies:
        return True
    # Most sliders do not attack the square even on an empty board, so they need no magic look-up.
    diagonal = diagonal_sliders(pos) & enemies
    if tables.bishop_rays[square] & diagonal and bishop_attacks(tables, square, occupied) & diagonal:
        return True
    straight = straight_sliders(pos) & enemies
    return bool(tables.rook_rays[square] & straight) and bool(rook_attacks(tables, square, occupied) & straight)


@inlined
def can_take_king(tables, pos):
    """Return whether the side to move attacks the other side's king. Such a position is illegal."""
    us = np.int64(pos.stm)
    return is_attacked(tables, pos, king_square(pos, us ^ 1), pos.by_type[0], us)


@inlined
def attackers_to(tables, pos, square, occupied):
    """Return the pieces of both sides that attack a square."""
    return (
        (tables.knight[square] & pos.by_type[KNIGHT])
        | (tables.king[square] & pos.by_type[KING])
        | (tables.pawn[0, square] & pos.by_type[PAWN] & pos.by_color[1])
        | (tables.pawn[1, square] & pos.by_type[PAWN] & pos.by_color[0])
        | (bishop_attacks(tables, square, occupied) & diagonal_sliders(pos))
        | (rook_attacks(tables, square, occupied) & straight_sliders(pos))
    )


@inlined
def attacked_by(tables, pos, side):
    """Return all squares that a side attacks, including squares of its own pieces, which it defends."""
    pieces = pos.by_color[side]
    occupied = pos.by_type[0]
    squares = pawn_attacks(side, pos.by_type[PAWN] & pieces) | tables.king[king_square(pos, side)]
    knights = pos.by_type[KNIGHT] & pieces
    while knights:
        squares |= tables.knight[lsb(knights)]
        knights = without_lsb(knights)
    diagonal = diagonal_sliders(pos) & pieces
    while diagonal:
        squares |= bishop_attacks(tables, lsb(diagonal), occupied)
        diagonal = without_lsb(diagonal)
    straight = straight_sliders(pos) & pieces
    while straight:
        squares |= rook_attacks(tables, lsb(straight), occupied)
        straight = without_lsb(straight)
    return squares


@inlined
def set_check_squares(tables, pos, squares):
    """For each type of piece, write the squares from which such a piece of the side to move would give check."""
    them = np.int64(pos.stm) ^ 1
    king = king_square(pos, them)
    diagonal, straight = bishop_attacks(tables, king, pos.by_type[0]), rook_attacks(tables, king, pos.by_type[0])
    squares[PAWN] = tables.pawn[them, king]
    squares[KNIGHT] = tables.knight[king]
    squares[BISHOP] = diagonal
    squares[ROOK] = straight
    squares[QUEEN] = diagonal | straight
    squares[KING] = ZERO


@inlined
def gives_direct_check(pos, squares, move):
    """Return whether a quiet move gives check with the moved piece, by the `squares` of `set_check_squares`. They count
    the from-square as occupied. That does not matter: no slider moves along a line on which it already gives check.
    """
    return squares[moved_type(pos, move)] & bit(target_of(move)) != ZERO


@inlined
def set_checks(tables, pos):
    """Set the checkers of a position and the pinned pieces of the side to move: if a single piece of the king's side
    stands between the king and an enemy slider, it is pinned.
    """
    us = np.int64(pos.stm)
    own, enemies = pos.by_color[us], pos.by_color[us ^ 1]
    king = king_square(pos, us)
    leapers = (tables.knight[king] & pos.by_type[KNIGHT]) | (tables.pawn[us, king] & pos.by_type[PAWN])
    checkers = leapers & enemies
    pinned = ZERO
    snipers = (
        (tables.rook_rays[king] & straight_sliders(pos)) | (tables.bishop_rays[king] & diagonal_sliders(pos))
    ) & enemies
    while snipers:
        sniper = lsb(snipers)
        blockers = tables.between[king, sniper] & pos.by_type[0]
        if blockers == ZERO:
            checkers |= bit(sniper)
        elif without_lsb(blockers) == ZERO:
            pinned |= blockers & own
        snipers = without_lsb(snipers)
    pos.checkers = checkers
    pos.pinned = pinned


# --- filling the tables, once, in NumPy ----------------------------------------------------------------------------


def _walk(square, direction):
    """Yield the squares from one square in one direction to the edge."""
    file, rank = (square & 7) + direction[0], (square >> 3) + direction[1]
    while 0 <= file < 8 and 0 <= rank < 8:
        yield rank * 8 + file
        file, rank = file + direction[0], rank + direction[1]


def _ray_bits(square, direction):
    return sum(1 << s for s in _walk(square, direction))


def relevant_mask(square, directions):
    """Return the squares whose occupation changes a slider's attacks: its rays, each without its last square."""
    return sum(1 << s for d in directions for s in list(_walk(square, d))[:-1])


def occupancies(mask):
    """Return all subsets of a mask as a uint64 array."""
    subsets = np.zeros(1, np.uint64)
    while mask:
        low = mask & -mask
        subsets = np.concatenate((subsets, subsets | np.uint64(low)))
        mask ^= low
    return subsets


def slider_attacks(square, directions, occupied):
    """Return the attack sets of a slider for an array of occupancies."""
    attacks = np.zeros_like(occupied)
    for direction in directions:
        open_so_far = np.full(occupied.shape, ~ZERO)
        for s in _walk(square, direction):
            attacks |= open_so_far & np.uint64(1 << s)
            open_so_far &= ((occupied >> np.uint64(s)) & np.uint64(1)) - np.uint64(1)
    return attacks


def _leaper(square, steps):
    file, rank = square & 7, square >> 3
    return sum(1 << ((rank + dr) * 8 + file + df) for df, dr in steps if 0 <= file + df < 8 and 0 <= rank + dr < 8)


def fill_tables(tables):
    """Fill the attack tables of a TABLES record."""
    offset = 0
    for square in range(64):
        tables.knight[square] = _leaper(square, KNIGHT_STEPS)
        tables.king[square] = _leaper(square, ROOK_DIRECTIONS + BISHOP_DIRECTIONS)
        tables.pawn[0][square] = _leaper(square, ((-1, 1), (1, 1)))
        tables.pawn[1][square] = _leaper(square, ((-1, -1), (1, -1)))
        tables.rook_rays[square] = sum(_ray_bits(square, d) for d in ROOK_DIRECTIONS)
        tables.bishop_rays[square] = sum(_ray_bits(square, d) for d in BISHOP_DIRECTIONS)
        for magic, factor, directions in (
            (tables.rook[square], magics.ROOK[square], ROOK_DIRECTIONS),
            (tables.bishop[square], magics.BISHOP[square], BISHOP_DIRECTIONS),
        ):
            mask = relevant_mask(square, directions)
            occupied = occupancies(mask)
            shift = 64 - mask.bit_count()
            magic.mask, magic.factor, magic.shift, magic.offset = mask, factor, shift, offset
            index = (occupied * np.uint64(factor)) >> np.uint64(shift)
            tables.slider[offset : offset + len(occupied)][index] = slider_attacks(square, directions, occupied)
            offset += len(occupied)
        for dx, dy in ROOK_DIRECTIONS + BISHOP_DIRECTIONS:
            line = _ray_bits(square, (dx, dy)) | _ray_bits(square, (-dx, -dy)) | (1 << square)
            path = 0
            for other in _walk(square, (dx, dy)):
                tables.between[square][other] = path
                tables.line[square][other] = line
                path |= 1 << other
