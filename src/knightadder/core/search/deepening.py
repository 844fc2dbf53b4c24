"""Iterative deepening in one call, for many searches of a few milliseconds each.

A search for a player deepens in Python (``engine/deepening.py``), which writes reports and looks at the clock between
depths. That takes as long as a thousand nodes. Both search the same tree.
"""

import numpy as np

from ..board.bitboard import ZERO
from ..board.movegen import ALL, generate
from ..layout import MAX_PLY
from ..native.jit import kernel, load64
from .root import (
    ASPIRATION_FROM,
    ASPIRATION_WINDOW,
    move_to_front,
    search_root,
)
from .transposition import (
    DECISIVE,
    EXACT,
    GENERATIONS,
    INFINITE,
    MATE,
)

MAX_DEPTH = MAX_PLY - 64  # plies; extensions may go deeper


@kernel
def prepare(tables, worker, node_limit):
    """Prepare a search of ``worker.stack[0]``, and return the number of legal moves."""
    frame = worker.frames[0]
    count = generate(tables, worker.stack[0], frame, np.int64(0), ALL)
    for i in range(count):
        root_move = worker.root_moves[np.uint64(i)]
        move = frame.moves[np.uint64(i)]
        root_move.move = move
        root_move.score = -INFINITE
        root_move.nodes = ZERO
        root_move.seldepth = 0
        root_move.bound = EXACT
        root_move.rank = 0
        root_move.pv[0] = move
        root_move.pv_length = 1
    worker.root_count = count
    worker.root_index = 0
    worker.nodes = ZERO
    worker.node_limit = np.uint64(node_limit)
    worker.stopped = 0
    worker.null_from_ply = 0
    worker.tt_generation = (worker.tt_generation + 1) & (GENERATIONS - 1)
    return count


@kernel
def _search_line(tables, worker, depth, line):
    """Search for the `line`-th best move, in aspiration windows around its last score."""
    best = worker.root_moves[np.uint64(line)]
    worker.pv_index = line
    worker.seldepth = 0
    alpha, beta, window = -INFINITE, INFINITE, np.int64(ASPIRATION_WINDOW)
    center = best.previous_score
    if depth >= ASPIRATION_FROM and abs(center) < DECISIVE:
        alpha, beta = center - window, center + window
    while True:
        score = search_root(tables, worker, depth, alpha, beta)
        if worker.stopped or (alpha < score and score < beta):
            break
        # A mate score needs no narrow window, and reaching it with one would take long.
        window = INFINITE if abs(score) >= DECISIVE else window * 2
        if score <= alpha:
            beta = (alpha + beta) // 2
            alpha = max(score - window, -INFINITE)
        else:
            beta = min(score + window, INFINITE)
    # A line found later may be better than those before it.
    place = line
    while place > 0 and worker.root_moves[np.uint64(place - 1)].score < best.score:
        place -= 1
    if place < line:
        worker.pv_index = place
        move_to_front(worker, line)


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
        for i in range(worker.root_count):
            root_move = worker.root_moves[np.uint64(i)]
            root_move.previous_score = root_move.score
        for line in range(lines):
            _search_line(tables, worker, depth, line)
            if worker.stopped:
                return depth
        if np.int64(worker.nodes) >= enough_nodes or MATE - abs(worker.root_moves[0].score) <= mate_plies:
            break
        # Search looks at the flag only once in many nodes, which a small tree may never reach.
        if load64(worker.stop_address) != ZERO:
            break
    return depth
