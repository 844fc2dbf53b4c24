"""The pieces: their mobility, their good and bad squares, and the squares that they attack, which later terms need."""

import numpy as np

from knightadder.native.jit import inlined, kernel, lsb, popcount

from ..board.attacks import bishop_attacks, king_square, pawn_attacks, rook_attacks
from ..board.bitboard import DARK_SQUARES, NOT_FILE_A, NOT_FILE_H, ZERO, bit, rank_around, without_lsb
from ..layout import BISHOP, KING, KNIGHT, PAWN, QUEEN, ROOK, WHITE
from .side import ONCE, attacked_twice_by_pawns, distance, file_of, fill_files, forward, is_in, rank_of, worth
from .terms import START

# The four central squares, and the files c to f.
CENTRE = np.uint64(0x0000001818000000)
_MIDDLE_FILES = np.uint64(0x3C3C3C3C3C3C3C3C)
# Squares from which a bishop can attack two squares of the centre.
_LONG_DIAGONALS = np.uint64(0x8142240000244281)

_PAIRS = (START["knight_pair"], START["bishop_pair"], START["rook_pair"])
_PER_PAWN = START["piece_per_pawn"]
_USUAL_PAWNS = 5
_KNIGHT_MOBILITY, _BISHOP_MOBILITY = START["knight_mobility"], START["bishop_mobility"]
_ROOK_MOBILITY, _QUEEN_MOBILITY = START["rook_mobility"], START["queen_mobility"]
_KNIGHT_OUTPOST, _BISHOP_OUTPOST = START["knight_outpost"], START["bishop_outpost"]
_KNIGHT_KING, _BISHOP_KING = START["knight_king_distance"], START["bishop_king_distance"]
_BEHIND_PAWN, _BAD_BISHOP, _LONG_DIAGONAL = START["minor_behind_pawn"], START["bad_bishop"], START["long_diagonal"]
_TRAPPED_BISHOP, _TRAPPED_ROOK = START["trapped_bishop"], START["trapped_rook"]
_ROOK_FILE, _ROOK_SEVENTH, _LINED_UP = START["rook_file"], START["rook_seventh"], START["queen_lined_up"]

_NEAR_RANKS_WHITE, _NEAR_RANKS_BLACK = np.uint64(0x0000000000FFFF00), np.uint64(0x00FFFF0000000000)

# Attack units for a piece that attacks at least one square around a king. Each of these squares adds one more unit.
_UNITS = (0, 0, 2, 2, 3, 4)  # by piece type


@kernel
def start_sides(tables, worker, pos, spans):
    """Reset the records of both sides, and record the attacks of their kings and pawns."""
    for us in range(2):
        side = worker.sides[us]
        own = pos.by_color[us]
        pawns, enemy_pawns = own & pos.by_type[PAWN], pos.by_type[PAWN] & ~own
        king = king_square(pos, us)
        by_pawns, by_king = pawn_attacks(us, pawns), tables.king[king]
        side.attacks[:] = ZERO
        side.attacks[PAWN] = by_pawns
        side.attacks[KING] = by_king
        side.attacks[0] = by_pawns | by_king
        side.attacked_twice = by_pawns & by_king | attacked_twice_by_pawns(us, pawns)
        side.pawn_span = spans[us]
        # Squares of the king, the queen, blocked pawns and pawns on the 2nd or 3rd rank do not count for mobility.
        stuck = pawns & (forward(us ^ 1, pos.by_type[0]) | (_NEAR_RANKS_WHITE if us == WHITE else _NEAR_RANKS_BLACK))
        safe = ~pawn_attacks(us ^ 1, enemy_pawns)
        side.mobility_area = safe & ~(stuck | own & (pos.by_type[KING] | pos.by_type[QUEEN]))
        # The ring of a king at the edge is the same as for a king one step further inside.
        file, rank = max(1, min(6, king & 7)), max(1, min(6, king >> 3))
        centre = (rank << 3) | file
        side.king_ring = tables.king[centre] | bit(centre)
        side.danger = 0


@inlined
def _note(worker, us, piece_type, attacks):
    """Record a piece's attacks and attack units; return its mobility."""
    own, other = worker.sides[us], worker.sides[us ^ 1]
    own.attacked_twice |= own.attacks[0] & attacks
    own.attacks[0] |= attacks
    own.attacks[piece_type] |= attacks
    around_king = attacks & other.king_ring
    if around_king:
        other.danger += _UNITS[piece_type] + popcount(around_king)
    return popcount(attacks & own.mobility_area)


@inlined
def _is_outpost(worker, us, square):
    """Return whether a square is on the 4th to 6th rank and beyond the reach of enemy pawns."""
    rank = rank_of(us, square)
    return (rank >= 3) & (rank <= 5) & (worker.sides[us ^ 1].pawn_span & bit(square) == ZERO)


@kernel
def pieces(tables, worker, pos, trace, us):
    """Return the packed value of the placement of a side's pieces, from the side's view, and record their attacks."""
    own, enemy = pos.by_color[us], pos.by_color[us ^ 1]
    occupied = pos.by_type[0]
    side = worker.sides[us]
    pawns, king = pos.by_type[PAWN] & own, king_square(pos, us)
    score = np.int64(0)
    surplus = popcount(pawns) - _USUAL_PAWNS
    for piece_type in range(KNIGHT, QUEEN + 1):
        count = popcount(pos.by_type[piece_type] & own)
        score += worth(tables, trace, us, _PER_PAWN + piece_type - KNIGHT, surplus * count)
        if count > 1 and piece_type != QUEEN:
            score += worth(tables, trace, us, _PAIRS[piece_type - KNIGHT], ONCE)

    knights = pos.by_type[KNIGHT] & own
    score += worth(tables, trace, us, _BEHIND_PAWN, popcount(forward(us, knights) & pos.by_type[PAWN]))
    while knights:
        square = lsb(knights)
        mobility = _note(worker, us, np.int64(KNIGHT), tables.knight[square])
        score += worth(tables, trace, us, _KNIGHT_MOBILITY + mobility, ONCE)
        score += worth(tables, trace, us, _KNIGHT_KING + distance(square, king), ONCE)
        if _is_outpost(worker, us, square):
            score += worth(tables, trace, us, _KNIGHT_OUTPOST + is_in(side.attacks[PAWN], square), ONCE)
        knights = without_lsb(knights)

    bishops = pos.by_type[BISHOP] & own
    score += worth(tables, trace, us, _BEHIND_PAWN + 1, popcount(forward(us, bishops) & pos.by_type[PAWN]))
    blocked = popcount(pawns & forward(us ^ 1, occupied) & _MIDDLE_FILES)
    through = occupied ^ (own & pos.by_type[QUEEN])
    while bishops:
        square = lsb(bishops)
        attacks = bishop_attacks(tables, square, through)
        mobility = _note(worker, us, np.int64(BISHOP), attacks)
        score += worth(tables, trace, us, _BISHOP_MOBILITY + mobility, ONCE)
        score += worth(tables, trace, us, _BISHOP_KING + distance(square, king), ONCE)
        if _is_outpost(worker, us, square):
            score += worth(tables, trace, us, _BISHOP_OUTPOST + is_in(side.attacks[PAWN], square), ONCE)
        same_colour = DARK_SQUARES if is_in(DARK_SQUARES, square) else ~DARK_SQUARES
        score += worth(tables, trace, us, _BAD_BISHOP, popcount(pawns & same_colour) * (1 + blocked))
        on_diagonal = is_in(_LONG_DIAGONALS, square)
        if on_diagonal and popcount(bishop_attacks(tables, square, pos.by_type[PAWN]) & CENTRE) > 1:
            score += worth(tables, trace, us, _LONG_DIAGONAL, ONCE)
        if rank_of(us, square) == 6 and bit(square) & NOT_FILE_A & NOT_FILE_H == ZERO:
            # For example, a black pawn on b6 traps a white bishop on a7.
            if pawn_attacks(us ^ 1, bit(square)) & enemy & pos.by_type[PAWN]:
                score += worth(tables, trace, us, _TRAPPED_BISHOP, ONCE)
        bishops = without_lsb(bishops)

    rooks = pos.by_type[ROOK] & own
    own_files = fill_files(pawns)
    through = occupied ^ (own & (pos.by_type[QUEEN] | pos.by_type[ROOK]))
    while rooks:
        square = lsb(rooks)
        mobility = _note(worker, us, np.int64(ROOK), rook_attacks(tables, square, through))
        score += worth(tables, trace, us, _ROOK_MOBILITY + mobility, ONCE)
        if not is_in(own_files, square):
            open_file = file_of(square & 7) & pos.by_type[PAWN] == ZERO
            score += worth(tables, trace, us, _ROOK_FILE + (1 if open_file else 0), ONCE)
        elif mobility <= 3 and rank_of(us, king) == 0 and (king & 7 > 3) == (square & 7 > king & 7):
            score += worth(tables, trace, us, _TRAPPED_ROOK, ONCE)
        if rank_of(us, square) == 6:
            targets = rank_around(square)
            if enemy & pos.by_type[PAWN] & targets or enemy & pos.by_type[KING] & forward(us, targets):
                score += worth(tables, trace, us, _ROOK_SEVENTH, ONCE)
        rooks = without_lsb(rooks)

    queens = pos.by_type[QUEEN] & own
    while queens:
        square = lsb(queens)
        attacks = rook_attacks(tables, square, occupied) | bishop_attacks(tables, square, occupied)
        mobility = _note(worker, us, np.int64(QUEEN), attacks)
        score += worth(tables, trace, us, _QUEEN_MOBILITY + mobility, ONCE)
        snipers = enemy & (
            tables.rook_rays[square] & pos.by_type[ROOK] | tables.bishop_rays[square] & pos.by_type[BISHOP]
        )
        while snipers:
            between = tables.between[square, lsb(snipers)] & occupied
            if between and without_lsb(between) == ZERO:
                score += worth(tables, trace, us, _LINED_UP, ONCE)
            snipers = without_lsb(snipers)
        queens = without_lsb(queens)
    return score
