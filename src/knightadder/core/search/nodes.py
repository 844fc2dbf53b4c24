"""Counting nodes, and stopping a search at its node limit or by its stop flag."""

import numpy as np

from knightadder.native.jit import inlined, kernel, load64, subtract64

from ..board.bitboard import ONE, ZERO

# Number of nodes that a thread takes at a time. When the search ends, other threads may have a few of them left.
NODES_TAKEN = np.int64(64)


@kernel
def _takes_spare_nodes(worker):
    """Raise the node limit by nodes that no thread has taken yet; return False if there are none."""
    if worker.spare_nodes_address == ZERO:
        return False
    left = subtract64(worker.spare_nodes_address, NODES_TAKEN)
    worker.node_limit += np.uint64(max(min(left, NODES_TAKEN), np.int64(0)))
    return left > 0


@inlined
def count_node(worker, ply):
    """Count a node, and return whether the search must stop: by the node limit, or by the stop flag."""
    worker.nodes += ONE
    worker.seldepth = max(worker.seldepth, ply)
    # The flag, which another thread sets, is read at each node. A node can take milliseconds when memory is swapped out
    # or tablebases are on a slow disk.
    if load64(worker.stop_address) != ZERO or (worker.nodes >= worker.node_limit and not _takes_spare_nodes(worker)):
        worker.stopped = 1
    return worker.stopped != 0
