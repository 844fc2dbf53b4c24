"""The api of the search: preparing it, and iterative deepening, the one driver of all searches.

A player's search (``engine/search.py``) calls it once for each depth, and looks at the clock and reports in between.
That takes as long as a thousand nodes. So searches of a few milliseconds leave a range of depths to one call.

Each depth is searched in a narrow window around the last score (*aspiration*).
"""

import numpy as np

from knightadder.native.jit import kernel
from knightadder.native.signatures import int64, void

from ..board.bitboard import ZERO
from ..program import core
from ..search.forgetting import forget_searches
from ..search.frame import NO_PLY
from ..search.mate import prove_mate
from ..search.root import clear_root_killers, move_to_front
from ..search.search import search
from ..search.transposition import DECISIVE, EXACT, INFINITE, MATE, NO_EVAL
from ..tables import Tables
from ..worker import Worker

_ASPIRATION_FROM = 5  # plies; before, scores jump too much for a narrow window

# Centipawns to either side of the last score: 12, and a 5,000th of its square, but no more than 60 of that. A large
# score changes more from depth to depth. The form is Stockfish's.
_MIN_WINDOW, _SQUARE_DIVISOR, _MAX_BY_SCORE = np.int64(12), 5_000, 60


@core.exported(void(Worker))
def forget(worker):
    """Clear what a worker has learnt from its searches, except the hash table."""
    forget_searches(worker)


@core.exported(void(Worker, int64, int64))
def start_search(worker, count, node_limit):
    """Prepare a search among the first `count` of ``worker.root_moves``, whose moves and ranks are set.

    Moves of equal rank must stand together, the highest rank first.
    """
    for i in range(count):
        root_move = worker.root_moves[i]
        root_move.score = -INFINITE
        root_move.previous_score = -INFINITE
        root_move.nodes = ZERO
        root_move.seldepth = 0
        root_move.bound = EXACT
        root_move.pv[0] = root_move.move
        root_move.pv_length = 1
    worker.root_count = count
    worker.root_depth = 0
    worker.root_index = 0
    worker.pv_index = 0
    worker.widened = 0
    worker.nodes = ZERO
    worker.tb_hits = ZERO
    worker.node_limit = np.uint64(node_limit)
    worker.seldepth = 0
    worker.stopped = 0
    worker.proving = 0
    worker.null_from_ply = 0
    worker.frames[NO_PLY].static_eval = NO_EVAL


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
                _begin_line(worker, depth, line)
            if not aspiration_search(tables, worker, pausing) or worker.stopped:
                return depth - 1
        if MATE - abs(worker.root_moves[0].score) <= mate_plies or np.int64(worker.nodes) >= enough_nodes:
            return depth
        if prove_mate(tables, worker, depth, mate_plies) or worker.stopped:
            return depth
    return last


@kernel
def _begin_line(worker, depth, line):
    """Prepare the search for the `line`-th best move, and its first window; line 0 begins an iteration."""
    if line == 0:
        for i in range(worker.root_count):
            root_move = worker.root_moves[i]
            root_move.previous_score = root_move.score
    worker.root_depth = depth
    worker.pv_index = line
    worker.seldepth = 0
    worker.root_alpha, worker.root_beta, worker.window = -INFINITE, INFINITE, INFINITE
    center = worker.root_moves[line].previous_score
    if depth >= _ASPIRATION_FROM and abs(center) < DECISIVE:
        worker.window = _MIN_WINDOW + min(center * center // _SQUARE_DIVISOR, _MAX_BY_SCORE)
        worker.root_alpha, worker.root_beta = center - worker.window, center + worker.window


@kernel
def _widen_window(worker, score):
    """Widen the aspiration window, outside which the score lies."""
    # A mate score needs no narrow window, and reaching it by widening one would take long.
    worker.window = INFINITE if abs(score) >= DECISIVE else 2 * worker.window
    if score <= worker.root_alpha:
        worker.root_beta = (worker.root_alpha + worker.root_beta) // 2
        worker.root_alpha = max(score - worker.window, -INFINITE)
    else:
        # This much is known of the move if the search is stopped in the next window. A mate needs its whole line.
        proved = score if score < DECISIVE else worker.root_beta
        worker.root_moves[worker.pv_index].previous_score = proved
        worker.root_beta = min(score + worker.window, INFINITE)


@kernel
def _sort_line(worker):
    """Move the line just searched before those that it is better than, unless their rank is higher."""
    line = worker.pv_index
    found = worker.root_moves[line]
    while worker.pv_index > 0:
        before = worker.root_moves[worker.pv_index - 1]
        if before.rank != found.rank or before.score >= found.score:
            break
        worker.pv_index -= 1
    if worker.pv_index < line:
        move_to_front(worker, line)


@kernel
def aspiration_search(tables, worker, pausing):
    """Search the root moves for one line, in wider and wider windows, and bring the best to its place among the lines.

    Returns
    -------
    bool
        Whether the search for this line has ended, also by ``worker.stopped``: a move that raised alpha before has its
        place even then, since it was fully searched and is better. If not, `pausing` is set, and the score lies outside
        the window, which has been widened: the next call searches again.
    """
    while True:
        clear_root_killers(worker)
        for index in range(worker.pv_index, worker.root_count):
            worker.root_moves[index].score = -INFINITE
        alpha, beta = worker.root_alpha, worker.root_beta
        score = search(tables, worker, np.int64(0), worker.root_depth, alpha, beta, np.int64(0))
        if worker.stopped or (alpha < score and score < beta):
            worker.widened = 0
            _sort_line(worker)
            return True
        _widen_window(worker, score)
        worker.widened = 1
        if pausing:
            return False
