"""Iterative deepening in one call, for many searches of a few milliseconds each.

A search for a player deepens in Python (``engine/deepening.py``), which reports and looks at the clock between two
windows. That takes as long as a thousand nodes. Both search the same windows (`aspiration`).
"""

import numpy as np

from knightadder.native.jit import kernel

from ..board.movegen import ALL, generate
from .aspiration import begin_line, begin_search, search_window
from .mate import prove_mate
from .transposition import GENERATIONS, MATE


@kernel
def prepare(tables, worker, node_limit):
    """Prepare a search among all moves of ``worker.stack[0]``, and return how many there are."""
    frame = worker.frames[0]
    count = generate(tables, worker.stack[0], frame, np.int64(0), ALL)
    for i in range(count):
        root_move = worker.root_moves[np.uint64(i)]
        root_move.move = frame.moves[np.uint64(i)]
        root_move.rank = 0
    begin_search(worker, count, node_limit)
    worker.tt_generation = (worker.tt_generation + 1) & (GENERATIONS - 1)
    return count


@kernel
def deepen(tables, worker, deepest, lines, enough_nodes, mate_plies):
    """Search ``worker.stack[0]`` by iterative deepening, and sort the best moves to the front.

    Parameters
    ----------
    tables, worker : records
        The worker must be prepared by `prepare`.
    deepest : int
        The last depth, in plies.
    lines : int
        Number of best moves to find, at most the number of legal moves.
    enough_nodes : int
        No depth is started after so many nodes (*soft* limit).
    mate_plies : int
        ... nor once the best line ends in mate, for either side, within so many plies; 0 for no such limit.

    Returns
    -------
    int
        The last depth searched, incomplete if ``worker.stopped`` is set.
    """
    depth = np.int64(0)
    while depth < deepest:
        depth += 1
        for line in range(lines):
            begin_line(worker, depth, line)
            while not search_window(tables, worker):
                pass
            if worker.stopped:
                return depth
        if prove_mate(tables, worker, depth, mate_plies) or worker.stopped:
            break
        if np.int64(worker.nodes) >= enough_nodes or MATE - abs(worker.root_moves[0].score) <= mate_plies:
            break
    return depth
