"""Games of the engine against itself, each played in one call, for ``knightadder datagen``.

A search of a hundred nodes takes less time than Python would need between two moves.
"""

import numpy as np

from knightadder.native.jit import kernel
from knightadder.native.signatures import int64, uint32, uint64

from ..board.bitboard import ZERO
from ..board.movegen import ALL, generate
from ..board.moves import moved_type
from ..board.packed import DRAW, LOSS, WIN, Packed, pack
from ..board.viriformat import NO_SCORE, encode
from ..compilation import core
from ..layout import MAX_DEPTH, WHITE
from ..search.transposition import EXACT, GENERATIONS, INFINITE
from ..split_mix import random_below
from ..tables import Tables
from ..worker import Worker
from .deepening import deepen, start_search
from .playing import draw_reason, play

# Adjudication: a game is won if one side is at least WIN_SCORE centipawns ahead for WIN_PLIES plies in a row. It is
# drawn if no side is more than DRAW_SCORE ahead for DRAW_PLIES plies. Stormphrax and Viridithas use similar numbers.
WIN_SCORE, WIN_PLIES = 2000, 4
DRAW_SCORE, DRAW_PLIES = 5, 12
DRAW_FROM = 70  # minimum plies, including the opening, before a game is adjudicated as a draw

_HARD_LIMIT_FACTOR = 8  # the hard node limit, which stops an exploding iteration, as a multiple of the soft limit


@core.exported(int64(Tables, Worker, int64, uint64))
def play_randomly(tables, worker, plies, seed):
    """Play at most `plies` random moves in ``worker.stack[0]`` until the game ends; return the number of moves played.

    First a type of piece that can move is chosen at random, and then one of its moves. If every move were equally
    likely, most moves would be pawn moves.
    """
    frame = worker.frames[0]
    for ply in range(plies):
        pos = worker.stack[0]
        count = generate(tables, pos, frame, np.int64(0), ALL)
        if count == 0 or draw_reason(tables, worker) != 0:
            return ply
        movable, types = np.int64(0), np.int64(0)
        for i in range(count):
            kind = moved_type(pos, frame.moves[i])
            if not (movable >> kind) & 1:
                movable |= np.int64(1) << kind
                types += 1
        chosen, left = np.int64(0), random_below(seed, 2 * ply, types)
        while left >= 0:
            chosen += 1
            left -= (movable >> chosen) & 1
        its_moves = np.int64(0)
        for i in range(count):
            its_moves += moved_type(pos, frame.moves[i]) == chosen
        left = random_below(seed, 2 * ply + 1, its_moves)
        for i in range(count):
            move = frame.moves[i]
            if moved_type(pos, move) == chosen:
                if left == 0:
                    play(tables, worker, move)
                    break
                left -= 1
    return plies


@kernel
def _prepare(tables, worker, nodes):
    """Prepare a search of all moves of ``worker.stack[0]``, and return their number."""
    frame = worker.frames[0]
    count = generate(tables, worker.stack[0], frame, np.int64(0), ALL)
    for i in range(count):
        root_move = worker.root_moves[i]
        root_move.move = frame.moves[i]
        root_move.rank = 0
    start_search(worker, count, nodes * _HARD_LIMIT_FACTOR)
    worker.tt_generation = (worker.tt_generation + 1) & (GENERATIONS - 1)
    return count


@kernel
def _score(tables, worker, nodes):
    """Search up to the soft node limit, move the best move to the front of the root moves, and return its score from
    the mover's view; `NO_SCORE` if no exact score is known.
    """
    deepen(tables, worker, np.int64(1), np.int64(MAX_DEPTH), np.int64(1), nodes, np.int64(0), np.int64(0))
    best = worker.root_moves[0]
    if best.score != -INFINITE:
        return best.score if best.bound == EXACT else NO_SCORE
    # The search was stopped before the last iteration reached the move.
    return best.previous_score if best.previous_score != -INFINITE else NO_SCORE


@kernel
def _is_fair(tables, worker, nodes, max_score):
    """Return whether a game can begin here: it is not over, and no side is more than `max_score` ahead."""
    if _prepare(tables, worker, nodes) == 0 or draw_reason(tables, worker) != 0:
        return False
    return abs(_score(tables, worker, nodes)) <= max_score


@core.exported(int64(Tables, Worker, Worker, int64, int64, int64, int64, Packed[::1], uint32[::1]))
def play_game(tables, white, black, nodes, first_nodes, max_score, ply, header, words):
    """Play a game in the format of `viriformat`, and return the number of its moves; 0 if no game was played.

    Parameters
    ----------
    tables : TABLES record
    white, black : WORKER records
        Both players have the same position in ``stack[0]``, the history before it, and the address of a stop flag. Each
        has its own hash table, as in a match, so that the results of one do not help the other.
    nodes : int
        Soft node limit of a move: no depth is started after that many nodes. The hard limit is eight times as high.
    first_nodes, max_score : int
        No game is played if a search of `first_nodes` nodes finds a side more than `max_score` centipawns ahead.
    ply : int
        Plies since the start of the game; White's first move is ply 0.
    header : array of 1 PACKED
        Receives the position and the result.
    words : array of uint32
        Receives the moves with their scores, and a zero at the end. A game that is too long for the array is a draw.
    """
    pos = white.stack[0]
    pack(pos, header[0], ply, np.int64(0), np.int64(DRAW))
    if not _is_fair(tables, white if pos.stm == WHITE else black, first_nodes, max_score):
        return np.int64(0)
    count, ahead, level = np.int64(0), np.int64(0), np.int64(0)
    while count < len(words) - 1:
        worker = white if pos.stm == WHITE else black
        if _prepare(tables, worker, nodes) == 0:
            if pos.checkers != ZERO:
                header[0].result = LOSS if pos.stm == WHITE else WIN
            break
        if draw_reason(tables, worker) != 0:
            break
        score = _score(tables, worker, nodes)
        if score != NO_SCORE and pos.stm != WHITE:
            score = -score
        move = worker.root_moves[0].move
        words[count] = encode(move, score)
        count += 1
        play(tables, white, move)
        play(tables, black, move)

        # `ahead` counts the latest plies in a row with White far ahead; it is negative if Black is far ahead.
        # `level` counts the latest plies in a row with a level score.
        if score >= WIN_SCORE:
            ahead = max(ahead, np.int64(0)) + 1
        elif score <= -WIN_SCORE and score != NO_SCORE:
            ahead = min(ahead, np.int64(0)) - 1
        else:
            ahead = np.int64(0)
        level = level + 1 if abs(score) <= DRAW_SCORE else np.int64(0)
        if abs(ahead) == WIN_PLIES:
            header[0].result = WIN if ahead > 0 else LOSS
            break
        if level >= DRAW_PLIES and ply + count >= DRAW_FROM:
            break
    words[count] = 0
    return count
