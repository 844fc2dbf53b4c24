"""The api of the search: preparing it, and iterative deepening, the one driver of all searches.

A player's search (``engine/search.py``) calls it once for each depth, and looks at the clock and reports in between.
That takes as long as a thousand nodes. So searches of a few milliseconds leave a range of depths to one call.
"""

import numpy as np

from knightadder.native.signatures import int64, void

from ..program import core
from ..search.deepening import aspiration_search, begin_line, begin_search
from ..search.forgetting import forget_searches
from ..search.mate import prove_mate
from ..search.transposition import MATE
from ..tables import Tables
from ..worker import Worker


@core.exported(void(Worker))
def forget(worker):
    """Clear what a worker has learnt from its searches, except the hash table."""
    forget_searches(worker)


@core.exported(void(Worker, int64, int64))
def start_search(worker, count, node_limit):
    """Prepare a search among the first `count` of ``worker.root_moves``, whose moves and ranks are set.

    Moves of equal rank must stand together, the highest rank first.
    """
    begin_search(worker, count, node_limit)


@core.exported(int64(Tables, Worker, int64, int64, int64, int64, int64, int64))
def deepen(tables, worker, first, last, lines, enough_nodes, mate_plies, pausing):
    """Search ``worker.stack[0]`` by iterative deepening, and sort the best moves to the front.

    Parameters
    ----------
    tables, worker : records
        The worker must be prepared by `start_search`.
    first, last : int
        The range of depths, in plies.
    lines : int
        Number of best moves to find, at most the number of root moves.
    enough_nodes : int
        No depth is started after so many nodes (*soft* limit).
    mate_plies : int
        ... nor once the best line ends in mate, for either side, within so many plies; 0 for no such limit.
    pausing : int
        1 to return also where a score lies outside its window. The next call, from the same depth on, continues there.

    Returns
    -------
    int
        The last depth completed. The next one is begun if ``worker.stopped`` is set, or the search pauses.
    """
    for depth in range(first, last + 1):
        for line in range(worker.pv_index if worker.widened else 0, lines):
            if not worker.widened:
                begin_line(worker, depth, line)
            if not aspiration_search(tables, worker, pausing) or worker.stopped:
                return depth - 1
        if MATE - abs(worker.root_moves[0].score) <= mate_plies or np.int64(worker.nodes) >= enough_nodes:
            return depth
        if prove_mate(tables, worker, depth, mate_plies) or worker.stopped:
            return depth
    return last
