"""Perft: the number of leaves of the legal move tree, the standard test of move generation."""

import numpy as np

from knightadder.native.jit import load64
from knightadder.native.signatures import int64

from ..board.bitboard import ZERO
from ..board.movegen import ALL, count_moves, generate
from ..board.position import make
from ..compilation import core
from ..tables import Tables
from ..worker import Worker


@core.exported(int64(Tables, Worker, int64, int64, int64))
def perft(tables, worker, ply, depth, bulk):
    """Count the positions `depth` plies below ``worker.stack[ply]``; the count is incomplete if the stop flag has been
    set. If `bulk` is 1, the moves of the last ply are counted without making them ("bulk counting").
    """
    if depth == 0:
        return 1
    pos = worker.stack[ply]
    if depth == 1 and bulk:
        return count_moves(tables, pos)
    frame = worker.frames[ply]
    count = generate(tables, pos, frame, np.int64(0), ALL)
    if depth > 3 and load64(worker.stop_address) != ZERO:
        return 0
    child = worker.stack[ply + 1]
    total = 0
    for i in range(count):
        make(tables, pos, child, frame.moves[i])
        total += perft(tables, worker, ply + 1, depth - 1, bulk)
    return total
