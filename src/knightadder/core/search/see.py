"""Static exchange evaluation: the material that a capture wins if both sides go on capturing on its square."""

import numpy as np

from knightadder.native.jit import inlined, kernel

from ..board.attacks import attackers_to, bishop_attacks, diagonal_sliders, rook_attacks, straight_sliders
from ..board.bitboard import ONE, ZERO, bit
from ..board.moves import CASTLING, EN_PASSANT, is_promotion, kind_of, moved_type, source_of, target_of
from ..layout import BISHOP, KNIGHT, PAWN, QUEEN, ROOK

PAWN_VALUE, MINOR_VALUE, ROOK_VALUE, QUEEN_VALUE = 100, 300, 500, 900  # centipawns, the traditional 1-3-5-9


@inlined
def piece_value(piece_type):
    """Return a piece's exchange value in centipawns; 0 for a king or nothing."""
    # A single constant holds a byte for each value, divided by 10, so no table has to be read.
    return np.int64((np.uint64(0x00_00_5A_32_1E_1E_0A_00) >> np.uint64(piece_type * 8)) & np.uint64(255)) * 10


@inlined
def captured_value(pos, move):
    """Return the value of the piece that a move captures, in centipawns; 0 for a quiet move."""
    if kind_of(move) == EN_PASSANT:
        return PAWN_VALUE
    return piece_value(np.int64(pos.board[target_of(move)]) & 7)


@inlined
def value_won(pos, move):
    """Return the material that a move wins immediately, in centipawns: the captured piece, and a queen for a pawn.
    Underpromotions count as no gain, because they are rarely meant to win material.
    """
    promotion = QUEEN_VALUE - PAWN_VALUE if kind_of(move) == QUEEN else 0
    return captured_value(pos, move) + promotion


@inlined
def _lowest(pieces):
    return pieces & (~pieces + ONE)


@kernel
def see_at_least(tables, pos, move, threshold):
    """Return whether the exchange that `move` starts wins at least `threshold` centipawns for the side to move. This is
    the swap algorithm: either side may stop capturing, and pins are ignored.
    """
    source, target, kind = source_of(move), target_of(move), kind_of(move)
    if kind == CASTLING:
        return threshold <= 0
    occupied = pos.by_type[0] & ~(bit(source) | bit(target))
    next_victim = piece_value(moved_type(pos, move))
    gain = captured_value(pos, move)
    if kind == EN_PASSANT:
        occupied &= ~bit(target ^ 8)
    elif is_promotion(move):
        next_victim = piece_value(kind)
        gain += next_victim - PAWN_VALUE
    # From here on, `swap` is the gain that the side to capture needs in order to turn the result.
    swap = gain - threshold
    if swap < 0:
        return False
    swap = next_victim - swap
    if swap <= 0:
        return True

    side = np.int64(pos.stm)
    diagonal, straight = diagonal_sliders(pos), straight_sliders(pos)
    attackers = attackers_to(tables, pos, target, occupied)
    result = np.int64(1)
    while True:
        side ^= 1
        attackers &= occupied
        own = attackers & pos.by_color[side]
        if own == ZERO:
            break
        result ^= 1
        # The least valuable attacker captures. This may open the line of a slider behind it.
        if own & pos.by_type[PAWN]:
            swap = PAWN_VALUE - swap
            if swap < result:
                break
            occupied ^= _lowest(own & pos.by_type[PAWN])
            attackers |= bishop_attacks(tables, target, occupied) & diagonal
        elif own & pos.by_type[KNIGHT]:
            swap = MINOR_VALUE - swap
            if swap < result:
                break
            occupied ^= _lowest(own & pos.by_type[KNIGHT])
        elif own & pos.by_type[BISHOP]:
            swap = MINOR_VALUE - swap
            if swap < result:
                break
            occupied ^= _lowest(own & pos.by_type[BISHOP])
            attackers |= bishop_attacks(tables, target, occupied) & diagonal
        elif own & pos.by_type[ROOK]:
            swap = ROOK_VALUE - swap
            if swap < result:
                break
            occupied ^= _lowest(own & pos.by_type[ROOK])
            attackers |= rook_attacks(tables, target, occupied) & straight
        elif own & pos.by_type[QUEEN]:
            swap = QUEEN_VALUE - swap
            if swap < result:
                break
            occupied ^= _lowest(own & pos.by_type[QUEEN])
            attackers |= bishop_attacks(tables, target, occupied) & diagonal
            attackers |= rook_attacks(tables, target, occupied) & straight
        else:
            # A king may capture only when nothing can recapture it.
            if attackers & pos.by_color[side ^ 1]:
                result ^= 1
            break
    return result != 0
