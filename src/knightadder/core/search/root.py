"""The list of root moves: each has its own line, and the best of them comes first."""

import numpy as np

from knightadder.native.jit import copy_record, inlined, kernel
from knightadder.native.records import record

from ..layout import MAX_MOVES, MAX_PLY
from .history import clear_killers
from .pv import update_pv
from .transposition import DECISIVE, EXACT, LOWER, UPPER

ROOT_MOVE = record(
    ("move", np.int64),
    ("score", np.int64),
    ("previous_score", np.int64),
    ("nodes", np.uint64),
    ("seldepth", np.int64),
    ("bound", np.int64),
    ("rank", np.int64),  # from the endgame tablebases, higher is better; moves of equal rank stand together
    ("pv_length", np.int64),
    ("pv", np.uint16, MAX_PLY),
)

_SPARE = np.uint64(MAX_MOVES - 1)  # free for swapping: no position has so many moves


@inlined
def move_to_front(worker, index):
    """Bring a root move to ``pv_index``, the others keeping their order."""
    moves = worker.root_moves
    copy_record(moves[_SPARE], moves[index])
    while index > worker.pv_index:
        copy_record(moves[index], moves[index - 1])
        index -= 1
    copy_record(moves[index], moves[_SPARE])


@inlined
def clear_root_killers(worker):
    """Forget the killers of the first plies, which the search of a node leaves to the one before it to clear."""
    clear_killers(worker, np.int64(0))
    clear_killers(worker, np.int64(1))


@kernel
def find_root_move(worker, move):
    """Return the place of a move in the list, or -1 if it is not to be searched.

    The moves before ``pv_index`` belong to better lines, and others may be missing from the list. Only moves of the
    same rank as the first are searched.
    """
    rank = worker.root_moves[worker.pv_index].rank
    for index in range(worker.pv_index, worker.root_count):
        root_move = worker.root_moves[index]
        if root_move.move == move:
            return index if root_move.rank == rank else np.int64(-1)
    return np.int64(-1)


@kernel
def update_root_move(worker, index, score, alpha, beta):
    """Note the score and the line of a root move that raised alpha or came first, and bring it to ``pv_index``.

    A first move that seems to lose keeps what the last iteration has found: one reply was enough to fail low, so its
    line shows no mate, and another move may not lose.
    """
    if score <= alpha and score <= -DECISIVE:
        return
    root_move = worker.root_moves[index]
    root_move.score = score
    root_move.bound = UPPER if score <= alpha else (LOWER if score >= beta else EXACT)
    root_move.seldepth = worker.seldepth
    update_pv(root_move, worker.frames[1], root_move.move)
    move_to_front(worker, index)
