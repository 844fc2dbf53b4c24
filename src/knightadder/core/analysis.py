"""The analysis of one position in one call: what `deepening` is when Python asks for it.

Nothing of the engine imports this module, so that its entry point is compiled only for the analysis of many positions.
"""

import numpy as np
from numba import int64

from .deepening import deepen, prepare
from .jit import entry
from .layout import Tables, Worker


@entry(int64(Tables, Worker, int64, int64, int64, int64))
def analyse_position(tables, worker, deepest, nodes, lines, mate_plies):
    """Search the position ``worker.stack[0]``, until a limit or the worker's stop flag ends it.

    Parameters
    ----------
    tables, worker : records
        The worker knows the position, the game's history, the hash table and the address of a stop flag.
    deepest : int
        The last depth, in plies.
    nodes : int
        How many are searched at most.
    lines : int
        Number of best moves to find.
    mate_plies : int
        Search ends when the best line ends in mate after so many plies; 0 asks for no mate.

    Returns
    -------
    int
        The depth that was searched last, 0 if there are no legal moves. ``worker.root_moves`` holds the lines, the
        best first.
    """
    count = prepare(tables, worker, nodes)
    return deepen(tables, worker, deepest if count else np.int64(0), min(lines, count), nodes, mate_plies)
