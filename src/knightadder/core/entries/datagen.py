"""One move of the engine's games against itself, searched, packed and played in one call, for ``knightadder datagen``.

At a thousand nodes a move, what Python does between the moves would take as long as the search. Nothing of the engine
imports this module, so that its entry point is compiled for that command only.
"""

import numpy as np
from numba import int64

from ..board.bitboard import ZERO
from ..board.moves import is_noisy
from ..board.packed import DRAW, Packed, pack
from ..layout import WHITE, Tables, Worker
from ..native.jit import entry, kernel
from ..search.deepening import MAX_DEPTH, deepen, prepare
from ..search.transposition import EXACT, INFINITE
from .game import draw_reason, play

# What has become of the position: a move was played in it that is (not) fit to be kept, or the game was over.
PASSED, KEPT, CHECKMATE, DRAWN = 0, 1, 2, 3

MOST_SCORE = 2000  # centipawns; beyond, the game is decided and its positions teach nothing

_MOST_NODES = 8  # times the nodes wanted: where an iteration that explodes is broken off


@kernel
def _score(tables, worker, nodes):
    """Search depth after depth until so many nodes are reached, and return the best move's score; it is the first."""
    deepen(tables, worker, np.int64(MAX_DEPTH), np.int64(1), nodes, np.int64(0))
    best = worker.root_moves[0]
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
    if prepare(tables, worker, nodes * _MOST_NODES) == 0:
        return np.int64(DRAWN) if pos.checkers == ZERO else np.int64(CHECKMATE)
    if draw_reason(tables, worker) != 0:
        return np.int64(DRAWN)
    score = _score(tables, worker, nodes)
    best = worker.root_moves[0]
    move = best.move
    white_score = score if pos.stm == WHITE else -score
    pack(pos, records[np.uint64(index)], ply, white_score, np.int64(DRAW))
    quiet = pos.checkers == ZERO and not is_noisy(pos, move)
    keep = quiet and best.bound == EXACT and abs(score) < MOST_SCORE
    play(tables, worker, move)
    return np.int64(KEPT) if keep else np.int64(PASSED)
