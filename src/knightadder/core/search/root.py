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
    ("rank", np.int64),  # from endgame tablebases, higher is better; moves of equal rank are adjacent
    ("pv_length", np.int64),
    ("pv", np.uint16, MAX_PLY),
)

# Two places that are always free, because no position has that many moves: for swapping, and for `keep_line`.
_SPARE, _KEPT = np.uint64(MAX_MOVES - 1), np.uint64(MAX_MOVES - 2)


@inlined
def move_to_front(worker, index):
    """Bring a root move to ``pv_index``. The other moves keep their order."""
    moves = worker.root_moves
    copy_record(moves[_SPARE], moves[index])
    while index > worker.pv_index:
        copy_record(moves[index], moves[index - 1])
        index -= 1
    copy_record(moves[index], moves[_SPARE])


@inlined
def clear_root_killers(worker):
    """Clear the killers of plies 0 and 1. At each later ply, the node two plies before clears them."""
    clear_killers(worker, np.int64(0))
    clear_killers(worker, np.int64(1))


@kernel
def find_root_move(worker, move):
    """Return the index of a move in the list, or -1 if it is not to be searched: it is not in the list; it stands
    before ``pv_index``, among the moves of better lines; or its rank differs from that of the move at ``pv_index``.
    """
    rank = worker.root_moves[worker.pv_index].rank
    for index in range(worker.pv_index, worker.root_count):
        root_move = worker.root_moves[index]
        if root_move.move == move:
            return index if root_move.rank == rank else np.int64(-1)
    return np.int64(-1)


@kernel
def update_root_move(worker, index, score, alpha, beta):
    """Store the score and line of a root move that raised alpha or was searched first, and move it to ``pv_index``.

    If the first move fails low with a losing score, it keeps the score and line of the last iteration. The search that
    failed low needed only one reply. So it has not found the line of a mate, and a different move may not lose.
    """
    if score <= alpha and score <= -DECISIVE:
        return
    root_move = worker.root_moves[index]
    root_move.score = score
    root_move.bound = UPPER if score <= alpha else (LOWER if score >= beta else EXACT)
    root_move.seldepth = worker.seldepth
    update_pv(root_move, worker.frames[1], root_move.move)
    move_to_front(worker, index)


@inlined
def keep_line(worker):
    """Keep the line of the move at ``pv_index`` for `restore_line`."""
    copy_record(worker.root_moves[_KEPT], worker.root_moves[worker.pv_index])


@inlined
def restore_line(worker, lines):
    """Restore the kept line after a stopped search, if its move is still the best but has a lower score than before: a
    move that was not tried may be better. If only one line is searched, the move must also lose by force, as in
    Stockfish.
    """
    root_move, kept = worker.root_moves[worker.pv_index], worker.root_moves[_KEPT]
    untried = root_move.move == kept.move and root_move.score < kept.previous_score
    if untried and (lines > 1 or root_move.score <= -DECISIVE):
        copy_record(root_move, kept)
