"""Making a move in the search: the new position, and the record of the move in the frame of its ply."""

from knightadder.native.jit import inlined

from ..board.moves import NO_MOVE
from ..board.position import make, make_null
from .correction import prefetch_continuation_corrections
from .history import piece_to
from .transposition import prefetch_entry


@inlined
def make_move(tables, worker, pos, frame, child, move, ply):
    """Make a move from `pos`, at `ply`, to `child`, record it in the frame, and prefetch what `child` needs."""
    frame.move = move
    frame.piece_to = piece_to(pos, move)
    prefetch_continuation_corrections(worker, ply + 1)
    make(tables, pos, child, move)
    prefetch_entry(worker, child.key)


@inlined
def make_null_move(tables, worker, pos, frame, child):
    """Make a null move from `pos` to `child`, in the same way as `make_move`."""
    frame.move = NO_MOVE
    frame.piece_to = 0
    prefetch_entry(worker, pos.key ^ tables.zobrist_stm)
    make_null(tables, pos, child)
