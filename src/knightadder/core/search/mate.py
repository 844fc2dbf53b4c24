"""Proofs of mates: a search that asks nothing but whether there is a mate in so many moves.

The window lies at that mate. There the search prunes hardly anything by itself: what rests on the evaluation makes an
exception of mates. Without late move reductions and internal iterative reductions, no line is searched less deeply than
another, and mate distance pruning ends each line in time. So the answer is exact.
"""

import numpy as np

from knightadder.native.jit import inlined, kernel

from .root import clear_root_killers
from .search import search
from .transposition import INFINITE, MATE

# Moves up to which a mate is proved: a proof of a mate in two takes some 400 nodes, in three 10,000, in four 100,000.
# An ordinary search finds longer mates sooner.
_MAX_PROVED_MOVES = 3

# Changes the keys of the positions of a proof. The table's other entries come from searches that prune, so a proof must
# not believe them.
_SALT = np.uint64(0x9E3779B97F4A7C15)


@inlined
def _change_keys(worker):
    """Change the key of the root and those of the game before it, or change them back."""
    for i in range(worker.key_count):
        worker.keys[i] ^= _SALT
    worker.stack[0].key ^= _SALT


@kernel
def prove_mate(tables, worker, depth, mate_plies):
    """Look for a mate within `depth` plies, if that is an odd number and such a mate is wanted and can be proved.

    Parameters
    ----------
    tables, worker : records
        The worker has searched this position to `depth`, and keeps that search's lines if there is no mate.
    depth : int
        Plies of the iteration that has just ended.
    mate_plies : int
        A mate within so many plies is wanted; 0 for none.

    Returns
    -------
    bool
        Whether there is one. Then it is the first of the root moves.
    """
    if depth & 1 == 0 or depth >= min(mate_plies, 2 * _MAX_PROVED_MOVES) or worker.root_moves[0].score >= MATE - depth:
        return False
    worker.proving = 1
    worker.root_depth = depth
    worker.pv_index = 0
    worker.seldepth = 0
    _change_keys(worker)
    clear_root_killers(worker)
    alpha = MATE - depth - 2  # one less, so that the node of the last move is a PV node and the line has that move
    score = search(tables, worker, np.int64(0), depth, alpha, INFINITE, np.int64(0))
    _change_keys(worker)
    worker.proving = 0
    return not worker.stopped and score >= MATE - depth
