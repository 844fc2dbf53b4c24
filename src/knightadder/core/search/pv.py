"""The principal variation: the line of best moves, kept for every ply ("triangular PV table")."""

import numpy as np

from knightadder.native.jit import inlined

from ..layout import MAX_PLY


@inlined
def update_pv(record, child, move):
    """Set the line of a frame or root move to `move`, followed by the line of the frame one ply deeper."""
    record.pv[0] = move
    length = min(child.pv_length, MAX_PLY - 1)
    for i in range(length):
        record.pv[np.uint64(i + 1)] = child.pv[np.uint64(i)]
    record.pv_length = length + 1
