"""Correction history: the average error of the static evaluation in positions that share a feature.

After a search, the difference between its score and the static evaluation is recorded for several features of the
position: its pawns, each side's other pieces, the minor pieces with the kings, and the last move together with the move
2 or 4 plies ago. Later evaluations of positions with such a feature are corrected by the recorded differences. Entries
are updated by the same gravity formula as the move histories.
"""

import numpy as np

from knightadder.native.jit import inlined, kernel, multiply_high, prefetch_item

from ..evaluation.evaluate import MAX_EVAL, evaluate
from ..layout import BISHOP, BLACK, KING, KNIGHT, PAWN, QUEEN, ROOK, WHITE
from .forgetting import note_correction_row
from .frame import PIECE_TO
from .history import add_bonus, frame_before
from .oversight import misjudged
from .transposition import LOWER, UPPER

CORRECTIONS = 16_384  # number of entries for each feature and side to move; a power of 2

LIMIT = 1024  # maximum absolute value of an entry

# Multipliers for hashing: odd numbers without a pattern, from the digits of pi and e.
_A, _B, _C = np.uint64(0x243F6A8885A308D3), np.uint64(0x13198A2E03707345), np.uint64(0xB7E151628AED2A6B)
_D, _E, _F = np.uint64(0xA4093822299F31D1), np.uint64(0x082EFA98EC4E6C89), np.uint64(0xBF7158809CF4F3C7)
_HALF = np.uint64(32)
_SHIFT = np.uint64(64 - CORRECTIONS.bit_length() + 1)


@inlined
def _mix(word):
    """Hash combined products to an index, from their highest bits, which depend on all other bits."""
    return np.int64(((word ^ (word >> _HALF)) * _C) >> _SHIFT)


@inlined
def _product(pieces, factor):
    """Return the 128-bit product of a set of pieces and a factor, folded to 64 bits. In a product, each bit affects
    only the bits above it. So the lower half alone would hardly distinguish pieces on the last ranks.
    """
    return pieces * factor ^ multiply_high(pieces, factor)


@inlined
def _pawn_index(pos):
    pawns = pos.by_type[PAWN]
    index = _mix(_product(pawns & pos.by_color[WHITE], _A) ^ _product(pawns & pos.by_color[BLACK], _B))
    return pos.stm * CORRECTIONS + index


@inlined
def _non_pawn_index(pos, color):
    own = pos.by_color[color]
    index = _mix(
        _product(own & pos.by_type[KNIGHT], _A)
        ^ _product(own & pos.by_type[BISHOP], _B)
        ^ _product(own & pos.by_type[ROOK], _D)
        ^ _product(own & pos.by_type[QUEEN], _E)
        ^ _product(own & pos.by_type[KING], _F)
    )
    return (pos.stm * 2 + color) * CORRECTIONS + index


@inlined
def _minor_index(pos):
    white, black = pos.by_color[WHITE], pos.by_color[BLACK]
    index = _mix(
        _product(white & pos.by_type[KNIGHT], _A)
        ^ _product(white & pos.by_type[BISHOP], _B)
        ^ _product(white & pos.by_type[KING], _D)
        ^ _product(black & pos.by_type[KNIGHT], _E)
        ^ _product(black & pos.by_type[BISHOP], _F)
        ^ _product(black & pos.by_type[KING], _C)
    )
    return pos.stm * CORRECTIONS + index


@inlined
def _continuation_index(worker, ply, plies):
    """Return the index for the last move and the move made `plies` plies ago."""
    return frame_before(worker, ply, plies).piece_to * PIECE_TO + frame_before(worker, ply, 1).piece_to


@inlined
def prefetch_continuation_corrections(worker, ply):
    """Prefetch the corrections for the moves that lead to `ply`, ahead of `corrected_eval`."""
    prefetch_item(worker.continuation_correction[0], _continuation_index(worker, ply, 2))
    prefetch_item(worker.continuation_correction[1], _continuation_index(worker, ply, 4))


@kernel
def corrected_eval(tables, worker, pos, ply):
    """Return the static evaluation plus its correction, in centipawns from the side to move's view. The frames before
    `ply` must hold the moves that led to the position.
    """
    pawns, minors = _pawn_index(pos), _minor_index(pos)
    white, black = _non_pawn_index(pos, WHITE), _non_pawn_index(pos, BLACK)
    replies, plans = _continuation_index(worker, ply, 2), _continuation_index(worker, ply, 4)
    # The entries are rarely in the cache, so these are fetched while the position is evaluated, and those for moves
    # even earlier, by `prefetch_continuation_corrections`.
    prefetch_item(worker.pawn_correction, pawns)
    prefetch_item(worker.minor_correction, minors)
    prefetch_item(worker.non_pawn_correction, white)
    prefetch_item(worker.non_pawn_correction, black)
    eval = evaluate(tables, worker, pos, ply)
    tuned = tables.parameters
    non_pawns = np.int64(worker.non_pawn_correction[white]) + np.int64(worker.non_pawn_correction[black])
    correction = (
        tuned.correction_pawn * np.int64(worker.pawn_correction[pawns])
        + tuned.correction_minor * np.int64(worker.minor_correction[minors])
        + tuned.correction_non_pawn * non_pawns
        + tuned.correction_continuation * np.int64(worker.continuation_correction[0][replies])
        + tuned.correction_continuation_4 * np.int64(worker.continuation_correction[1][plans])
    )
    if worker.misjudgement:
        eval = misjudged(worker, pos, eval)
    return max(-MAX_EVAL, min(MAX_EVAL, eval + correction // 2048))


@inlined
def corrects(bound, score, static_eval):
    """Return whether a search score shows an error of the static evaluation: a lower bound does so only if it is above
    the evaluation, and an upper bound only if it is below.
    """
    return not (bound == LOWER and score <= static_eval) and not (bound == UPPER and score >= static_eval)


@kernel
def update_corrections(worker, pos, ply, difference, depth):
    """Learn from the difference, in centipawns from the side to move's view, between a search score and the corrected
    static evaluation. Deeper searches have more weight.
    """
    bonus = max(-LIMIT // 4, min(LIMIT // 4, difference * depth // 8))
    add_bonus(worker.pawn_correction, _pawn_index(pos), bonus, LIMIT)
    add_bonus(worker.non_pawn_correction, _non_pawn_index(pos, WHITE), bonus, LIMIT)
    add_bonus(worker.non_pawn_correction, _non_pawn_index(pos, BLACK), bonus, LIMIT)
    add_bonus(worker.minor_correction, _minor_index(pos), bonus, LIMIT)
    add_bonus(worker.continuation_correction[0], _continuation_index(worker, ply, 2), bonus, LIMIT)
    add_bonus(worker.continuation_correction[1], _continuation_index(worker, ply, 4), bonus, LIMIT)
    note_correction_row(worker, 0, frame_before(worker, ply, 2).piece_to)
    note_correction_row(worker, 1, frame_before(worker, ply, 4).piece_to)
