"""Draws: the fifty-move rule, repetition, and insufficient material."""

import numpy as np

from knightadder.native.jit import inlined, kernel, popcount

from ..layout import BISHOP, KNIGHT, PAWN, QUEEN, ROOK
from .bitboard import DARK_SQUARES, ZERO
from .movegen import ALL, generate
from .position import make


@inlined
def is_repetition(worker, pos, ply):
    """Return whether the search scores the position as a draw by repetition. One earlier occurrence after the root is
    enough; otherwise two are needed, as in the rule. ``worker.keys`` must hold the keys up to this ply.
    """
    here = worker.key_count + ply
    furthest = min(np.int64(pos.rule50), np.int64(pos.plies_from_null), here)
    seen = 0
    for distance in range(4, furthest + 1, 2):
        if worker.keys[here - distance] == pos.key:
            seen += 1
            if distance < ply or seen == 2:
                return True
    return False


@inlined
def _is_checkmate(tables, pos, frame):
    return pos.checkers != ZERO and generate(tables, pos, frame, np.int64(0), ALL) == 0


@kernel
def is_fifty_move_draw(tables, pos, frame):
    """Return whether the fifty-move rule ends the game. A checkmate on the hundredth ply takes precedence."""
    return pos.rule50 >= 100 and not _is_checkmate(tables, pos, frame)


@inlined
def stand_on_one_color(bishops):
    """Return whether all squares of a set are dark, or all are light."""
    return bishops & DARK_SQUARES == ZERO or bishops & ~DARK_SQUARES == ZERO


@inlined
def is_dead_position(pos):
    """Return whether neither side can ever mate: bare kings, a minor piece, or bishops all on one colour."""
    if pos.by_type[PAWN] | pos.by_type[ROOK] | pos.by_type[QUEEN]:
        return False
    knights, bishops = pos.by_type[KNIGHT], pos.by_type[BISHOP]
    if popcount(knights | bishops) <= 1:
        return True
    return knights == ZERO and stand_on_one_color(bishops)


@inlined
def _can_only_blunder(pos):
    """Return whether only two minor pieces are left that cannot force mate: one on each side, or two knights. Such a
    position is a draw, unless the side to move is mated or mates with its next move.
    """
    if popcount(pos.by_type[0]) != 4 or pos.by_type[PAWN] | pos.by_type[ROOK] | pos.by_type[QUEEN]:
        return False
    return pos.by_type[BISHOP] == ZERO or popcount(pos.by_color[0]) == 2


@kernel
def _is_mate_near(tables, worker, pos, frame, ply):
    """Return whether the side to move is mated, or can mate with its next move."""
    count = generate(tables, pos, frame, np.int64(0), ALL)
    if count == 0:
        return pos.checkers != ZERO
    child, child_frame = worker.stack[ply + 1], worker.frames[ply + 1]
    for index in range(count):
        make(tables, pos, child, np.int64(frame.moves[index]))
        if _is_checkmate(tables, child, child_frame):
            return True
    return False


@inlined
def is_draw(tables, worker, pos, frame, ply):
    """Return whether the search scores a position as a draw without looking further."""
    if is_dead_position(pos) or is_repetition(worker, pos, ply) or is_fifty_move_draw(tables, pos, frame):
        return True
    return _can_only_blunder(pos) and not _is_mate_near(tables, worker, pos, frame, ply)
