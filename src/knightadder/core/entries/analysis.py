"""The analysis of one position in two calls: one sets it up, the other searches it by `deepening`."""

import numpy as np

from knightadder.native.signatures import int64

from ..board.packed import Packed, unpack
from ..program import core
from ..search.deepening import deepen, prepare
from ..search.forgetting import forget_searches
from ..tables import Tables
from ..worker import Worker
from .game import play_all


@core.entry(int64(Tables, Worker, Packed[::1], int64, int64[::1]))
def set_up_game(tables, worker, records, index, moves):
    """Set up ``worker.stack[0]`` from ``records[index]``, which must be legal, and play moves from it.

    What earlier searches have learnt is cleared, except the hash table.

    Returns
    -------
    int
        The number of moves played; see `play_all`.
    """
    forget_searches(worker)
    worker.key_count = 0
    unpack(tables, records[np.uint64(index)], worker.stack[0])
    return play_all(tables, worker, moves)


@core.entry(int64(Tables, Worker, int64, int64, int64, int64))
def analyse_position(tables, worker, deepest, nodes, lines, mate_plies):
    """Search the position ``worker.stack[0]``, until a limit or the worker's stop flag ends it.

    Parameters
    ----------
    tables, worker : records
        The worker knows the position, the game's history, the hash table and the address of a stop flag.
    deepest : int
        The last depth, in plies.
    nodes : int
        The largest number of nodes to search.
    lines : int
        Number of best moves to find.
    mate_plies : int
        Search ends once the best line ends in mate within so many plies; 0 for no such limit.

    Returns
    -------
    int
        The depth that was searched last, 0 if there are no legal moves. ``worker.root_moves`` holds the lines, the
        best first.
    """
    count = prepare(tables, worker, nodes)
    return deepen(tables, worker, deepest if count else np.int64(0), min(lines, count), nodes, mate_plies)
