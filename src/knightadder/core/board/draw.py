"""Draws: the fifty-move rule, repetition, insufficient material."""

import numpy as np

from ..layout import (
    BISHOP,
    KNIGHT,
    PAWN,
    QUEEN,
    ROOK,
)
from ..native.jit import inlined, kernel, popcount
from .bitboard import DARK_SQUARES, ZERO
from .movegen import ALL, generate


@inlined
def is_repetition(worker, pos, ply):
    """Say whether the position is a repetition that search may score as a draw.

    Within the searched line one earlier occurrence is enough, because the players can repeat the position again. In
    the game itself, the root included, two are needed, as the rule says.
    ``worker.keys`` must hold the keys up to this ply.
    """
    here = worker.key_count + ply
    furthest = min(min(np.int64(pos.rule50), np.int64(pos.plies_from_null)), here)
    seen = 0
    for distance in range(4, furthest + 1, 2):
        if worker.keys[np.uint64(here - distance)] == pos.key:
            seen += 1
            if distance < ply or seen == 2:
                return True
    return False


@kernel
def is_fifty_move_draw(tables, pos, frame):
    """Say whether the fifty-move rule ends the game; a checkmate on the hundredth ply takes precedence."""
    if pos.rule50 < 100:
        return False
    return pos.checkers == ZERO or generate(tables, pos, frame, np.int64(0), ALL) > 0


@inlined
def stand_on_one_color(bishops):
    """Say whether all squares of a set are dark, or all are light."""
    return bishops & DARK_SQUARES == ZERO or bishops & ~DARK_SQUARES == ZERO


@inlined
def is_dead_position(pos):
    """Say whether neither side can ever mate, as FIDE's rule 5.2.2 asks: bare kings, one minor piece, or bishops
    that all stand on squares of one colour.
    """
    if pos.by_type[PAWN] | pos.by_type[ROOK] | pos.by_type[QUEEN]:
        return False
    knights, bishops = pos.by_type[KNIGHT], pos.by_type[BISHOP]
    if popcount(knights | bishops) <= 1:
        return True
    return knights == ZERO and stand_on_one_color(bishops)
