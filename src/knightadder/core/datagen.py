"""One move of the engine's games against itself, searched, packed and played in one call, for ``knightadder datagen``.

At a thousand nodes a move, what Python does between the moves would take as long as the search. Nothing of the engine
imports this module, so that its entry point is compiled for that command only.
"""

import numpy as np
from numba import int64

from .bitboard import ZERO
from .game import draw_reason, play
from .jit import entry, kernel
from .layout import MAX_PLY, WHITE, Tables, Worker
from .movegen import ALL, generate
from .moves import is_noisy
from .packed import DRAW, Packed, pack
from .root import ASPIRATION_FROM, ASPIRATION_WINDOW, search_root
from .transposition import DECISIVE, EXACT, GENERATIONS, INFINITE

# What has become of the position: a move was played in it that is (not) fit to be kept, or the game was over.
PASSED, KEPT, CHECKMATE, DRAWN = 0, 1, 2, 3

MOST_SCORE = 2000  # centipawns; beyond, the game is decided and its positions teach nothing

_MOST_NODES = 8  # times the nodes wanted: where an iteration that explodes is broken off
_MAX_DEPTH = MAX_PLY - 64


@kernel
def _prepare(tables, worker, nodes):
    """Set the thread's state up for a search of ``worker.stack[0]``; returns the number of legal moves."""
    frame = worker.frames[0]
    count = generate(tables, worker.stack[0], frame, np.int64(0), ALL)
    for i in range(count):
        root_move = worker.root_moves[np.uint64(i)]
        move = frame.moves[np.uint64(i)]
        root_move.move = move
        root_move.score = -INFINITE
        root_move.nodes = ZERO
        root_move.bound = EXACT
        root_move.rank = 0
        root_move.pv[0] = move
        root_move.pv_length = 1
    worker.root_count = count
    worker.root_index = 0
    worker.pv_index = 0
    worker.nodes = ZERO
    worker.node_limit = np.uint64(nodes * _MOST_NODES)
    worker.stopped = 0
    worker.null_from_ply = 0
    worker.tt_generation = (worker.tt_generation + 1) & (GENERATIONS - 1)
    return count


@kernel
def _iterate(tables, worker, depth):
    """Search one depth, in aspiration windows."""
    best = worker.root_moves[0]
    worker.seldepth = 0
    alpha, beta, window = -INFINITE, INFINITE, np.int64(ASPIRATION_WINDOW)
    center = best.score
    if depth >= ASPIRATION_FROM and abs(center) < DECISIVE:
        alpha, beta = center - window, center + window
    while True:
        score = search_root(tables, worker, depth, alpha, beta)
        if worker.stopped or (alpha < score and score < beta):
            return
        window = INFINITE if abs(score) >= DECISIVE else window * 2
        if score <= alpha:
            beta = (alpha + beta) // 2
            alpha = max(score - window, -INFINITE)
        else:
            beta = min(score + window, INFINITE)


@kernel
def _deepen(tables, worker, nodes):
    """Search ``worker.stack[0]`` depth after depth until so many nodes are reached; the best move is the first then.

    Returns
    -------
    int
        Its score, from the side to move's view.
    """
    best = worker.root_moves[0]
    depth = np.int64(1)
    while True:
        for i in range(worker.root_count):
            root_move = worker.root_moves[np.uint64(i)]
            root_move.previous_score = root_move.score
        _iterate(tables, worker, depth)
        depth += 1
        if worker.stopped or np.int64(worker.nodes) >= nodes or depth > _MAX_DEPTH:
            break
    if best.score == -INFINITE:  # broken off before this iteration got to it
        best.score = best.previous_score
        best.bound = EXACT
    return best.score


@entry(int64(Tables, Worker, int64, int64, Packed[::1], int64))
def play_move(tables, worker, nodes, ply, records, index):
    """Search the position ``worker.stack[0]``, write it into a record, and play the best move.

    Parameters
    ----------
    tables, worker : records
        The worker knows the position, the game's history, the hash table and the address of a stop flag.
    nodes : int
        No depth is begun once so many have been searched (*soft* node limit); after eight times as many search ends in
        any case.
    ply : int
        Plies since the game's beginning.
    records : array of PACKED
        Position and score are written to ``records[index]`` if a move is played, with a draw as the result.
    index : int
        Where.

    Returns
    -------
    int
        `CHECKMATE` or `DRAWN` (stalemate included) if the game is over and no move is played; else `KEPT` if the
        position is fit for fitting an evaluation: not in check, the best move neither captures nor promotes, its score
        is exact and below `MOST_SCORE`; else `PASSED`.
    """
    pos = worker.stack[0]
    if _prepare(tables, worker, nodes) == 0:
        return np.int64(DRAWN) if pos.checkers == ZERO else np.int64(CHECKMATE)
    if draw_reason(tables, worker) != 0:
        return np.int64(DRAWN)
    score = _deepen(tables, worker, nodes)
    best = worker.root_moves[0]
    move = best.move
    white_score = score if pos.stm == WHITE else -score
    pack(pos, records[np.uint64(index)], ply, white_score, np.int64(DRAW))
    quiet = pos.checkers == ZERO and not is_noisy(pos, move)
    keep = quiet and best.bound == EXACT and abs(score) < MOST_SCORE
    play(tables, worker, move)
    return np.int64(KEPT) if keep else np.int64(PASSED)
