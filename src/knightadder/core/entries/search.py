"""The entry points for a search that deepens in Python, see ``engine/deepening.py``."""

import numpy as np

from knightadder.native.signatures import int64, void

from ..program import core
from ..search.aspiration import begin_line, begin_search, search_window
from ..search.mate import prove_mate
from ..tables import Tables
from ..worker import Worker


@core.entry(void(Worker, int64, int64))
def start_search(worker, count, node_limit):
    """Prepare a search among the first `count` of ``worker.root_moves``, whose moves and ranks are set.

    Moves of equal rank must stand together, the highest rank first.
    """
    begin_search(worker, count, node_limit)


@core.entry(void(Worker, int64, int64))
def start_line(worker, depth, line):
    """Prepare the search for the `line`-th best move, from 0, `depth` plies deep; line 0 begins an iteration."""
    begin_line(worker, depth, line)


@core.entry(int64(Tables, Worker))
def search_root(tables, worker):
    """Search the root moves once for this line, within its aspiration window.

    Returns
    -------
    int
        1 if the search for this line has ended, which it also does if ``worker.stopped`` is set; 0 if the score lies
        outside the window, which has been widened: the next call searches again.
    """
    return search_window(tables, worker)


@core.entry(int64(Tables, Worker, int64, int64))
def search_mate(tables, worker, depth, mate_plies):
    """Look for a mate after an iteration, see `prove_mate`; return 1 if there is one, else 0."""
    return np.int64(prove_mate(tables, worker, depth, mate_plies))
