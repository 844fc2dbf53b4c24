"""The api of the search: it prepares a search, and runs the iterative deepening that drives every search.

A player's search (``engine/running_search.py``) calls `deepen` once for each depth. Between the calls it looks at the
clock and sends reports. That takes as long as searching a thousand nodes, so a search of a few milliseconds covers a
range of depths in one call.

Each depth is searched in a narrow window around the score of the previous depth (*aspiration*).
"""

import numpy as np

from knightadder.native.jit import kernel
from knightadder.native.signatures import int64, void

from ..board.bitboard import ZERO
from ..compilation import core
from ..search import forgetting
from ..search.frame import NO_PLY
from ..search.mate import prove_mate
from ..search.oversight import overlooks
from ..search.root import clear_root_killers, keep_line, move_to_front, restore_line
from ..search.search import search
from ..search.transposition import DECISIVE, EXACT, INFINITE, MATE, NO_EVAL
from ..tables import Tables
from ..worker import Worker

_ASPIRATION_FROM = 5  # minimum depth in plies for a narrow window; at lower depths, scores vary too much

# The window extends on either side of the last score by 12 + min(score ** 2 / 5000, 60) centipawns, because large
# scores change more from depth to depth. The formula is Stockfish's.
_MIN_WINDOW, _SQUARE_DIVISOR, _MAX_BY_SCORE = np.int64(12), 5_000, 60

forget = core.exported(void(Worker))(forgetting.forget)


@core.exported(void(Worker, int64, int64))
def start_search(worker, count, node_limit):
    """Prepare a search of the first `count` moves of ``worker.root_moves``, whose ranks are set. Moves of equal rank
    must be adjacent, with the highest rank first.
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
    worker.spare_nodes_address = ZERO
    worker.seldepth = 0
    worker.stopped = 0
    worker.proving = 0
    worker.oversight = 0
    worker.misjudgement = 0
    worker.null_from_ply = 0
    worker.frames[NO_PLY].static_eval = NO_EVAL


@core.exported(int64(Tables, Worker, int64))
def overlooks_at_root(tables, worker, move):
    """Return 1 if a weakened player overlooks a legal move of ``worker.stack[0]``, else 0; in check it sees every move.
    ``worker.oversight`` and ``worker.weak_seed`` must be set, after `start_search`.
    """
    pos = worker.stack[0]
    return np.int64(pos.checkers == ZERO and overlooks(tables, worker, pos, move, worker.last_move))


@core.exported(int64(Tables, Worker, int64, int64, int64, int64, int64, int64))
def deepen(tables, worker, first, last, lines, enough_nodes, mate_plies, pausing):
    """Search ``worker.stack[0]`` by iterative deepening, and return the last completed depth.

    The best moves are sorted to the front. The next depth is unfinished if ``worker.stopped`` is set or the search
    pauses.

    Parameters
    ----------
    tables, worker : records
        `start_search` must have prepared the worker.
    first, last : int
        The first and last depth, in plies.
    lines : int
        Number of best moves to find (MultiPV), at most the number of root moves.
    enough_nodes : int
        Soft node limit: no depth is started after that many nodes.
    mate_plies : int
        No depth is started once the best line ends in mate within that many plies, for either side. 0 for no limit.
    pausing : int
        1 to return also when a score lies outside its window; the next call must then begin at the same depth.
    """
    for depth in range(first, last + 1):
        for line in range(worker.pv_index if worker.widened else 0, lines):
            if not worker.widened:
                _begin_line(worker, depth, line)
            if not _aspiration_search(tables, worker, lines, pausing) or worker.stopped:
                return depth - 1
        if MATE - abs(worker.root_moves[0].score) <= mate_plies or np.int64(worker.nodes) >= enough_nodes:
            return depth
        if prove_mate(tables, worker, depth, mate_plies) or worker.stopped:
            return depth
    return last


@kernel
def _begin_line(worker, depth, line):
    """Prepare the search for the `line`-th best move and its first window. Line 0 begins an iteration."""
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
    """Widen the aspiration window towards a score that lies outside it."""
    # A mate score gets a full window, because widening a narrow window to it would take long.
    worker.window = INFINITE if abs(score) >= DECISIVE else 2 * worker.window
    if score <= worker.root_alpha:
        worker.root_beta = (worker.root_alpha + worker.root_beta) // 2
        worker.root_alpha = max(score - worker.window, -INFINITE)
    else:
        # The score is proved even if the next search is stopped. Only a mate is not proved without its whole line.
        proved = score if score < DECISIVE else worker.root_beta
        worker.root_moves[worker.pv_index].previous_score = proved
        worker.root_beta = min(score + worker.window, INFINITE)


@kernel
def _sort_line(worker):
    """Move the line that was just searched in front of all worse lines of the same rank."""
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
def _aspiration_search(tables, worker, lines, pausing):
    """Search the root moves for one line in wider and wider windows, and sort the best move into the lines.

    The function returns whether the search for this line has ended, because the score lies within the window or
    ``worker.stopped`` is set. A stopped search still keeps a move that raised alpha: that move was fully searched and
    is better. For a first move whose score has fallen, see `restore_line`. If `pausing` is set, the function returns
    False as soon as a score lies outside the window. The next call then searches a wider window.
    """
    while True:
        clear_root_killers(worker)
        for index in range(worker.pv_index, worker.root_count):
            worker.root_moves[index].score = -INFINITE
        keep_line(worker)
        alpha, beta = worker.root_alpha, worker.root_beta
        score = search(tables, worker, np.int64(0), worker.root_depth, alpha, beta, np.int64(0))
        if worker.stopped or (alpha < score and score < beta):
            worker.widened = 0
            if worker.stopped:
                restore_line(worker, lines)
            _sort_line(worker)
            return True
        _widen_window(worker, score)
        worker.widened = 1
        if pausing:
            return False
