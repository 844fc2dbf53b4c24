"""Endings: corrections by material, for positions that piece-square tables misjudge.

A bare king loses against mating material, so the evaluation drives it to the edge of the board ("mop-up evaluation", as
in Chess 4.x). Other material wins less often than its value suggests, or never. There the advantage of the better side
is scaled down.
"""

import numpy as np

from knightadder.native.jit import inlined, kernel, lsb, popcount

from ..board.bitboard import DARK_SQUARES, NOT_FILE_A, NOT_FILE_H, ZERO, without_lsb
from ..board.draw import stand_on_one_color
from ..layout import BISHOP, KING, KNIGHT, PAWN, QUEEN, ROOK
from .pesto import END_GAME_VALUES
from .score import FULL_SCALE

FEW_PIECES = 12  # maximum game phase at which this module is used
KNOWN_WIN = 5_000  # centipawns; more than any advantage without promoted queens, but less than a mate score

_AROUND_A1, _AROUND_H1 = np.uint64(0x0303), np.uint64(0xC0C0)  # corners a1 and h1 with their neighbours
_SIX_RANKS = np.uint64(48)


@inlined
def _can_mate(pos, own):
    """Return whether pieces without pawns can force mate. A single minor piece cannot, nor two knights, nor bishops of
    one colour.
    """
    knights, bishops = own & pos.by_type[KNIGHT], own & pos.by_type[BISHOP]
    if own & (pos.by_type[ROOK] | pos.by_type[QUEEN]) or not stand_on_one_color(bishops):
        return True
    return popcount(knights) >= 3 or (knights != ZERO and bishops != ZERO)


@inlined
def _piece_value(pos, own):
    return (
        END_GAME_VALUES[KNIGHT] * popcount(own & pos.by_type[KNIGHT])
        + END_GAME_VALUES[BISHOP] * popcount(own & pos.by_type[BISHOP])
        + END_GAME_VALUES[ROOK] * popcount(own & pos.by_type[ROOK])
        + END_GAME_VALUES[QUEEN] * popcount(own & pos.by_type[QUEEN])
    )


@inlined
def _from_centre(line):
    return max(3 - line, line - 4)


@inlined
def _drive(pos, own, bare):
    """Return a bonus in centipawns for a bare king that is far from the centre and near the other king.

    Bishops of one colour with knights can force mate only in the corners that the bishops attack, so the king is driven
    there. This takes many moves, so a step gains much more than in other endings.
    """
    king, target = lsb(own & pos.by_type[KING]), lsb(bare)
    file, rank = target & 7, target >> 3
    nearness = 14 - abs((king & 7) - file) - abs((king >> 3) - rank)
    bishops = own & pos.by_type[BISHOP]
    others = pos.by_type[PAWN] | pos.by_type[ROOK] | pos.by_type[QUEEN]
    if bishops and stand_on_one_color(bishops) and own & others == ZERO:
        # With dark-squared bishops, `corner` is 7 on a1 and h8, and 0 on the diagonal a8-h1; with light ones, the
        # reverse.
        corner = abs(file + rank - 7) if bishops & DARK_SQUARES else abs(file - rank)
        return 300 * corner + 48 * nearness
    return 80 * (_from_centre(file) + _from_centre(rank)) + 32 * nearness


@inlined
def _wrong_rook_pawn(pos, strong, own, other):
    """Return whether a side has only rook pawns, on one file, and bishops that do not attack their promotion square.
    The enemy king must stand on or beside that square, so that the pawns cannot promote.
    """
    pawns, bishops = own & pos.by_type[PAWN], own & pos.by_type[BISHOP]
    if own & ~(pawns | bishops | pos.by_type[KING]):
        return False
    up = _SIX_RANKS if strong == 0 else ZERO
    if pawns & NOT_FILE_A == ZERO:
        corner, dark = _AROUND_A1 << up, strong != 0
    elif pawns & NOT_FILE_H == ZERO:
        corner, dark = _AROUND_H1 << up, strong == 0
    else:
        return False
    attackers = bishops & DARK_SQUARES if dark else bishops & ~DARK_SQUARES
    return attackers == ZERO and other & pos.by_type[KING] & corner != ZERO


@inlined
def scale_of(pos, strong):
    """Return the share of the better side's advantage that counts, up to `FULL_SCALE`."""
    own, other = pos.by_color[strong], pos.by_color[strong ^ 1]
    pawns = own & pos.by_type[PAWN]
    if pawns == ZERO:
        # The side cannot mate, even after taking all enemy pawns.
        if not _can_mate(pos, own):
            return 0
        # A surplus of at most a bishop wins only by mistakes. Examples are a rook against a bishop, and rook and bishop
        # against a rook. A queen against a rook has a larger surplus, and so have two bishops against a knight.
        against = _piece_value(pos, other)
        if _piece_value(pos, own) - against <= END_GAME_VALUES[BISHOP]:
            return 4 if against <= END_GAME_VALUES[BISHOP] else 14
        return FULL_SCALE
    if _wrong_rook_pawn(pos, strong, own, other):
        return 0
    bishops = pos.by_type[BISHOP]
    if popcount(bishops) == 2 and popcount(bishops & own) == 1 and popcount(bishops & DARK_SQUARES) == 1:
        # Bishops of opposite colours: the defender holds the squares that the enemy bishop does not attack. But other
        # pieces can attack those squares, and the defender cannot stop many extra pawns.
        if pos.by_type[KNIGHT] | pos.by_type[ROOK] | pos.by_type[QUEEN]:
            return 48
        surplus = popcount(pawns) - popcount(other & pos.by_type[PAWN])
        return min(16 * max(1, surplus), FULL_SCALE)
    return FULL_SCALE


@kernel
def judge(pos, value):
    """Return a static value corrected by knowledge of endings, in centipawns from the side to move's view. The game
    phase must be at most `FEW_PIECES`. A known win is worth `KNOWN_WIN` more than its pieces.
    """
    us = np.int64(pos.stm)
    for loser in range(2):
        own, bare = pos.by_color[loser ^ 1], pos.by_color[loser]
        if without_lsb(bare) == ZERO and _can_mate(pos, own):
            bonus = KNOWN_WIN + _drive(pos, own, bare)
            return value + bonus if us != loser else value - bonus
    return value * scale_of(pos, us if value > 0 else us ^ 1) // FULL_SCALE
