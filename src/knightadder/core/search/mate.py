"""Mate proofs: a search that only asks whether there is a mate in a given number of moves.

The window lies just below the score of that mate. Hardly anything is pruned there, because pruning by the evaluation is
off for mate scores. Late move reductions and internal iterative reductions are off, too. So all lines are searched to
the same depth, and mate distance pruning ends each line in time. This makes the answer exact.
"""

import numpy as np

from knightadder.native.jit import inlined, kernel

from .root import clear_root_killers
from .search import search
from .transposition import INFINITE, MATE

# Maximum length of a mate to prove, in moves. A proof takes about 400 nodes for a mate in two, 10,000 for one in three,
# and 100,000 for one in four. An ordinary search finds longer mates sooner.
_MAX_PROVED_MOVES = 3

# Changes the keys of the positions during a proof, so that the proof uses its own hash table entries. Ordinary
# entries come from searches that prune.
_SALT = np.uint64(0x9E3779B97F4A7C15)


@inlined
def _change_keys(worker):
    """Change the keys of the root and of the game's positions before it. A second call restores them."""
    for i in range(worker.key_count):
        worker.keys[i] ^= _SALT
    worker.stack[0].key ^= _SALT


@kernel
def prove_mate(tables, worker, depth, mate_plies):
    """Look for a mate within `depth` plies. If there is one, move its first move to the front and return true.

    The worker has just searched the position to `depth`, and keeps the lines of that search if there is no mate. There
    is no proof unless a mate within `mate_plies` plies is wanted (0 for none), `depth` is odd, and a mate of that
    length is short enough.
    """
    if depth & 1 == 0 or depth >= min(mate_plies, 2 * _MAX_PROVED_MOVES) or worker.root_moves[0].score >= MATE - depth:
        return False
    worker.proving = 1
    worker.root_depth = depth
    worker.pv_index = 0
    worker.seldepth = 0
    _change_keys(worker)
    clear_root_killers(worker)
    # One less than the mate needs, so that the last move's node is a PV node and the line includes that move.
    alpha = MATE - depth - 2
    score = search(tables, worker, np.int64(0), depth, alpha, INFINITE, np.int64(0))
    _change_keys(worker)
    worker.proving = 0
    return not worker.stopped and score >= MATE - depth
