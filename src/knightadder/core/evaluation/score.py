"""Scores for the middle game and the end game, packed in one 64-bit integer, and their blend ("tapered evaluation").

The low 32 bits hold the middle-game half, and the high bits the end-game half. Sums and integer multiples of packed
scores are packed scores too.
"""

import numpy as np

from knightadder.native.jit import inlined, popcount

from ..layout import BISHOP, KNIGHT, QUEEN, ROOK

# The game phase counts 1 for a knight or bishop, 2 for a rook and 4 for a queen. The start position has 24.
FULL_PHASE = 24
FULL_SCALE = 64  # scale at which the whole end-game half counts


def pack(middle, end):
    """Return the packed score of a middle-game and an end-game value in centipawns. Arrays give an array."""
    return middle + (end << 32)


def unpack(scores):
    """Return the middle-game and end-game halves of packed scores, along a new last axis."""
    middle = scores.astype(np.int32).astype(np.int64)  # the cast to 32 bits keeps the low bits and their sign
    return np.stack((middle, (scores - middle) >> 32), axis=-1)


@inlined
def middle_game(score):
    """Return the middle-game half of a packed score."""
    return ((score + (1 << 31)) & ((1 << 32) - 1)) - (1 << 31)


@inlined
def end_game(score):
    """Return the end-game half of a packed score."""
    return (score + (1 << 31)) >> 32


@inlined
def game_phase(pos):
    """Return the game phase by the material left, from 0 (kings and pawns) to `FULL_PHASE`."""
    minors = popcount(pos.by_type[KNIGHT] | pos.by_type[BISHOP])
    return min(minors + 2 * popcount(pos.by_type[ROOK]) + 4 * popcount(pos.by_type[QUEEN]), FULL_PHASE)


@inlined
def blend(pos, score, phase, scale):
    """Return the blend of a packed score, which is from White's view, in centipawns from the side to move's view.
    `scale` is the share of the end-game half that counts, up to `FULL_SCALE`.
    """
    value = middle_game(score) * phase * FULL_SCALE + end_game(score) * (FULL_PHASE - phase) * scale
    # The division comes after the change of view, so that a position and its mirror image are rounded alike.
    return (value if pos.stm == 0 else -value) // (FULL_PHASE * FULL_SCALE)
