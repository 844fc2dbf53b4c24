"""Endgame tablebases in the search: when to probe a position, and the score of the result."""

import numpy as np

from knightadder.native.jit import inlined, kernel, popcount, record_at

from ..board.bitboard import ONE, ZERO
from ..syzygy.probe import TABLEBASES, WIN, probe_wdl
from .transposition import EXACT, LOWER, TABLEBASE_WIN, UPPER


@inlined
def may_probe(worker, pos, depth):
    """Return whether to probe a position that is searched `depth` plies deep. Table values are right only if the
    fifty-move count is zero, and the largest tables are too slow to be read at low depth.
    """
    men = popcount(pos.by_type[0])
    if men > worker.probe_men or pos.rule50 != 0 or pos.castling != ZERO:
        return False
    return men < worker.probe_men or depth >= worker.probe_depth


@kernel
def probe_score(tables, worker, ply):
    """Probe a position of the stack, and return its score for the side to move and the score's bound (0 if unknown).

    A win is a lower bound, because there may be a mate to find, and a loss is an upper bound. The function overwrites
    the moves of the frame and the stack after `ply`.
    """
    wdl, known = probe_wdl(tables, record_at(worker.tablebases_address, TABLEBASES), worker, ply)
    if not known:
        return np.int64(0), known
    worker.tb_hits += ONE
    win = WIN if worker.fifty_moves else np.int64(1)
    if wdl >= win:
        return TABLEBASE_WIN - ply, LOWER
    if wdl <= -win:
        return ply - TABLEBASE_WIN, UPPER
    # A draw that is due only to the fifty-move rule scores slightly better for the stronger side.
    return 2 * wdl, EXACT
