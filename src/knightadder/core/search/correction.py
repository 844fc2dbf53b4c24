"""Correction history: how far the static evaluation has been off in positions that share a feature.

After a search the difference between its result and the static evaluation is noted under the position's pawns, each
side's other pieces, the minor pieces with the kings, and the last two moves; the next evaluation of a position that
shares one of them is corrected by what is noted there. Entries move by the same gravity as move histories.
"""

import numpy as np

from ..evaluation.evaluate import MAX_EVAL, evaluate
from ..layout import (
    BISHOP,
    BLACK,
    CORRECTIONS,
    KING,
    KNIGHT,
    PAWN,
    PIECE_TO,
    QUEEN,
    ROOK,
    WHITE,
)
from ..native.jit import inlined, kernel
from .history import apply_gravity, frame_before

LIMIT = 1024

# Odd numbers without a pattern: digits of pi and e.
_A, _B, _C = np.uint64(0x243F6A8885A308D3), np.uint64(0x13198A2E03707345), np.uint64(0xB7E151628AED2A6B)
_D, _E, _F = np.uint64(0xA4093822299F31D1), np.uint64(0x082EFA98EC4E6C89), np.uint64(0xBF7158809CF4F3C7)
_HALF = np.uint64(32)
_SHIFT = np.uint64(64 - CORRECTIONS.bit_length() + 1)


@inlined
def _mix(value):
    """Turn combined products of bitboards into an index: the highest bits, which depend on all the others."""
    return ((value ^ (value >> _HALF)) * _C) >> _SHIFT


@inlined
def _pawn_index(pos):
    pawns = pos.by_type[PAWN]
    return _mix((pawns & pos.by_color[WHITE]) * _A ^ (pawns & pos.by_color[BLACK]) * _B)


@inlined
def _non_pawn_index(pos, color):
    own = pos.by_color[np.uint64(color)]
    return _mix(
        (own & pos.by_type[KNIGHT]) * _A
        ^ (own & pos.by_type[BISHOP]) * _B
        ^ (own & pos.by_type[ROOK]) * _D
        ^ (own & pos.by_type[QUEEN]) * _E
        ^ (own & pos.by_type[KING]) * _F
    )


@inlined
def _minor_index(pos):
    white, black = pos.by_color[WHITE], pos.by_color[BLACK]
    return _mix(
        (white & pos.by_type[KNIGHT]) * _A
        ^ (white & pos.by_type[BISHOP]) * _B
        ^ (white & pos.by_type[KING]) * _D
        ^ (black & pos.by_type[KNIGHT]) * _E
        ^ (black & pos.by_type[BISHOP]) * _F
        ^ (black & pos.by_type[KING]) * _C
    )


@inlined
def _continuation_index(worker, ply):
    return np.uint64(frame_before(worker, ply, 2).piece_to * PIECE_TO + frame_before(worker, ply, 1).piece_to)


@kernel
def corrected_eval(tables, worker, pos, ply, alpha, beta):
    """Return the static evaluation plus its correction, in centipawns for the side to move.

    The moves that led here must be in the frames before `ply`. Outside the window from `alpha` to `beta` the value may
    be rough.
    """
    tuned = tables.parameters
    side = np.uint64(pos.stm)
    correction = tuned.correction_pawn * np.int64(worker.pawn_correction[side, _pawn_index(pos)])
    for color in range(2):
        index = _non_pawn_index(pos, color)
        correction += tuned.correction_non_pawn * np.int64(worker.non_pawn_correction[side, np.uint64(color), index])
    correction += tuned.correction_minor * np.int64(worker.minor_correction[side, _minor_index(pos)])
    correction += tuned.correction_continuation * np.int64(
        worker.continuation_correction[_continuation_index(worker, ply)]
    )
    return max(-MAX_EVAL, min(MAX_EVAL, evaluate(tables, worker, pos, alpha, beta) + correction // 2048))


@kernel
def update_corrections(worker, pos, ply, difference, depth):
    """Learn from a search result that is `difference` centipawns above the corrected static evaluation.

    The difference is in the side to move's view. A deeper search counts for more.
    """
    side = np.uint64(pos.stm)
    bonus = max(-LIMIT // 4, min(LIMIT // 4, difference * depth // 8))
    index = _pawn_index(pos)
    worker.pawn_correction[side, index] = apply_gravity(worker.pawn_correction[side, index], bonus, LIMIT)
    for color in range(2):
        place = (side, np.uint64(color), _non_pawn_index(pos, color))
        worker.non_pawn_correction[place] = apply_gravity(worker.non_pawn_correction[place], bonus, LIMIT)
    index = _minor_index(pos)
    worker.minor_correction[side, index] = apply_gravity(worker.minor_correction[side, index], bonus, LIMIT)
    index = _continuation_index(worker, ply)
    worker.continuation_correction[index] = apply_gravity(worker.continuation_correction[index], bonus, LIMIT)
