"""The principal variation: the line of best moves, kept for every ply ("triangular PV table")."""

from knightadder.native.jit import inlined

from ..layout import MAX_PLY


@inlined
def update_pv(record, child, move):
    """Set the line of a frame or root move to `move` followed by the line of `child`, the frame one ply deeper."""
    record.pv[0] = move
    length = min(child.pv_length, MAX_PLY - 1)
    for i in range(length):
        record.pv[i + 1] = child.pv[i]
    record.pv_length = length + 1
