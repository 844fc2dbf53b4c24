"""The root of the search: one iteration over the list of root moves, which keeps a score and a line for each."""

import numpy as np

from ..board.bitboard import ZERO
from ..board.moves import NO_MOVE, is_noisy
from ..board.position import make
from ..layout import (
    MAX_MOVES,
    NO_EVAL,
)
from ..native.jit import copy_record, inlined, kernel
from .correction import corrected_eval
from .history import clear_killers, piece_to
from .pv import update_pv
from .search import late_move_reduction, plies_to_reduce, search
from .transposition import (
    EXACT,
    INFINITE,
    LOWER,
    UPPER,
    prefetch_entry,
    store,
)

_SPARE = np.uint64(MAX_MOVES - 1)  # free for swapping: no position has so many moves


@inlined
def move_to_front(worker, index):
    """Bring a root move to ``pv_index``, the others keeping their order."""
    moves = worker.root_moves
    copy_record(moves[_SPARE], moves[np.uint64(index)])
    while index > worker.pv_index:
        copy_record(moves[np.uint64(index)], moves[np.uint64(index - 1)])
        index -= 1
    copy_record(moves[np.uint64(index)], moves[_SPARE])


@inlined
def _keep_line(worker, root_move, score, bound):
    root_move.score = score
    root_move.bound = bound
    root_move.seldepth = worker.seldepth
    update_pv(root_move, worker.frames[1], root_move.move)


@inlined
def _end_of_rank(worker):
    """Return the index after the last root move with the same rank as the one at ``pv_index``."""
    rank = worker.root_moves[np.uint64(worker.pv_index)].rank
    end = worker.pv_index
    while end < worker.root_count and worker.root_moves[np.uint64(end)].rank == rank:
        end += 1
    return end


@kernel
def search_root(tables, worker, depth, alpha, beta):
    """Search the root moves from ``pv_index`` on, `depth` plies deep, and bring the best to ``pv_index``.

    Only moves of the same rank as the first are searched.

    Parameters
    ----------
    tables, worker : records
        ``worker.stack[0]`` holds the position, ``worker.root_moves[:root_count]`` its moves, best rank first.
    depth : int
        In plies, at least 1.
    alpha, beta : int
        The aspiration window in centipawns, from the side to move's view.

    Returns
    -------
    int
        The best score, meaningless if ``worker.stopped`` is set before the first move's score was known. A move that
        raised alpha before a stop is still brought to the front: it was fully searched and is better.
    """
    pos = worker.stack[0]
    frame = worker.frames[0]
    child = worker.stack[1]
    worker.keys[np.uint64(worker.key_count)] = pos.key
    frame.static_eval = (
        NO_EVAL if pos.checkers != ZERO else corrected_eval(tables, worker, pos, np.int64(0), -INFINITE, INFINITE)
    )
    clear_killers(worker, np.int64(1))
    clear_killers(worker, np.int64(2))
    best, best_index, original_alpha = -INFINITE, worker.pv_index, alpha
    end = _end_of_rank(worker)
    for index in range(worker.pv_index, end):
        root_move = worker.root_moves[np.uint64(index)]
        move = root_move.move
        worker.root_index = index
        nodes_before = worker.nodes
        frame.move = move
        frame.piece_to = piece_to(pos, move)
        make(tables, pos, child, move)
        prefetch_entry(worker, child.key)
        new_depth = depth - 1
        if index == worker.pv_index:
            score = -search(tables, worker, np.int64(1), new_depth, -beta, -alpha, np.int64(0))
        else:
            plies = np.int64(0)
            move_count = index - worker.pv_index + 1
            if depth >= 3 and move_count > 3 and not is_noisy(pos, move) and child.checkers == ZERO:
                reduction = late_move_reduction(tables, depth, move_count, True, np.int64(0))
                plies = plies_to_reduce(tables, reduction, depth, True, True, False, False, False)
            score = -search(tables, worker, np.int64(1), new_depth - plies, -alpha - 1, -alpha, np.int64(1))
            if score > alpha and plies > 0 and not worker.stopped:
                score = -search(tables, worker, np.int64(1), new_depth, -alpha - 1, -alpha, np.int64(1))
            if score > alpha and score < beta and not worker.stopped:
                score = -search(tables, worker, np.int64(1), new_depth, -beta, -alpha, np.int64(0))
        root_move.nodes += worker.nodes - nodes_before
        if worker.stopped:
            break
        if score > best:
            best = score
            if index == worker.pv_index or score > alpha:
                best_index = index
                bound = UPPER if score <= alpha else (LOWER if score >= beta else EXACT)
                _keep_line(worker, root_move, score, bound)
            alpha = max(alpha, score)
            if score >= beta:
                break
    move_to_front(worker, best_index)
    if not worker.stopped:
        bound = UPPER if best <= original_alpha else (LOWER if best >= beta else EXACT)
        best_move = worker.root_moves[np.uint64(worker.pv_index)].move if bound != UPPER else NO_MOVE
        if worker.pv_index == 0:
            store(worker, pos.key, best_move, best, depth, bound, np.int64(0))
    return best
