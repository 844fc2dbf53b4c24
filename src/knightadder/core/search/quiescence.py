"""Quiescence search: captures, promotions and check evasions are searched until the position is quiet."""

import numpy as np

from knightadder.native.jit import inlined, kernel, self_call
from knightadder.native.signatures import int64

from ..board.bitboard import ZERO
from ..board.draw import is_draw
from ..board.movegen import is_legal
from ..board.moves import NO_MOVE, is_noisy, is_promotion, same_target
from ..evaluation.endings import KNOWN_WIN
from ..layout import MAX_PLY
from .correction import corrected_eval
from .history import frame_before, prepare_histories
from .make import make_move
from .movepick import next_move, start_picking
from .nodes import count_node
from .oversight import overlooks
from .pv import update_pv
from .see import captured_value, see_at_least
from .transposition import (
    DECISIVE,
    EXACT,
    INFINITE,
    LOWER,
    MATE,
    NO_EVAL,
    UPPER,
    entry_cuts_off,
    entry_move,
    entry_score,
    entry_was_pv,
    probe,
    refined_eval,
    store,
)


@inlined
def _nearer_to(beta, score):
    """Return a score above beta, moved halfway towards beta: the amount by which it exceeds beta is uncertain."""
    return (score + beta) // 2 if abs(score) < DECISIVE else score


@kernel
def quiesce(tables, worker, ply, alpha, beta):
    """Return the score of a position once its captures are played out, in centipawns from the side to move's view.

    Outside check, the side to move may stand pat, because one of its quiet moves would usually do at least as well.
    Captures that lose material are skipped, and so are quiet evasions once a move is known not to lose. A score outside
    (alpha, beta) is a bound. After ``worker.stopped`` is set, the score is meaningless.
    """
    pos = worker.stack[ply]
    frame, parent = worker.frames[ply], frame_before(worker, ply, 1)
    frame.pv_length = 0
    if count_node(worker, ply):
        return np.int64(0)
    worker.keys[worker.key_count + ply] = pos.key
    if is_draw(tables, worker, pos, frame, ply):
        return np.int64(0)
    in_check = pos.checkers != ZERO
    is_pv = beta - alpha > 1
    if ply >= MAX_PLY:
        return np.int64(0) if in_check else corrected_eval(tables, worker, pos, ply)
    # The evaluation comes before the table, whose memory may still be on its way to the cache.
    static_eval = NO_EVAL if in_check else corrected_eval(tables, worker, pos, ply)
    entry = probe(worker, pos.key)
    was_pv = np.int64(is_pv) | entry_was_pv(entry)
    hash_move = NO_MOVE
    if entry:
        if not is_pv and entry_cuts_off(entry, ply, alpha, beta):
            return entry_score(entry, ply)
        hash_move = entry_move(entry)
        if hash_move and not ((in_check or is_noisy(pos, hash_move)) and is_legal(tables, pos, hash_move)):
            hash_move = NO_MOVE
    best_score, best_move, original_alpha = -INFINITE, NO_MOVE, alpha
    if not in_check:
        best_score = refined_eval(entry, ply, static_eval) if entry else static_eval
        if best_score >= beta:
            return _nearer_to(beta, best_score)
        alpha = max(alpha, best_score)
    futility_base = best_score + tables.parameters.delta_margin
    captures_left = tables.parameters.quiescence_moves

    start_picking(frame, hash_move, np.int64(0))
    child = worker.stack[ply + 1]
    if in_check:
        prepare_histories(tables, worker, pos, frame, ply)
    while True:
        move = next_move(tables, worker, pos, frame)
        if move == NO_MOVE:
            break
        # A move that may save a lost game is not pruned here: a single capture can make the position a draw.
        lost = best_score <= -KNOWN_WIN
        if in_check:
            # Quiet evasions come last, and there are many. Once a move is known not to lose, skipping them is as safe
            # as standing pat.
            if not lost and not is_noisy(pos, move):
                break
        else:
            if worker.oversight and overlooks(tables, worker, pos, move, parent.move):
                continue
            prunable = not lost and not is_promotion(move)
            # Delta pruning: the captured piece does not make up the distance to alpha, or the exchange wins nothing.
            if prunable and futility_base <= alpha:
                futility_value = futility_base + captured_value(pos, move)
                if futility_value <= alpha:
                    best_score = max(best_score, futility_value)
                    continue
                if not see_at_least(tables, pos, move, np.int64(1)):
                    best_score = max(best_score, futility_base)
                    continue
            # Only a few captures are searched: the best ones come first, and later ones seldom change the score.
            # Recaptures are exempt, because a recapture may be the only answer to the last move.
            if prunable and captures_left <= 0 and not same_target(move, parent.move):
                continue
            captures_left -= 1
        make_move(tables, worker, pos, frame, child, move, ply)
        score = -_quiesce(tables, worker, ply + 1, -beta, -alpha)
        if worker.stopped:
            return np.int64(0)
        if score > best_score:
            best_score = score
            if score > alpha:
                if is_pv:
                    update_pv(frame, worker.frames[ply + 1], move)
                alpha = score
                best_move = move
                if score >= beta:
                    break
    if best_score == -INFINITE:
        return ply - MATE  # checkmate
    if best_score >= beta:
        best_score = _nearer_to(beta, best_score)
    bound = LOWER if best_score >= beta else (EXACT if best_score > original_alpha and is_pv else UPPER)
    store(worker, pos.key, best_move, best_score, np.int64(0), bound, ply, was_pv)
    return best_score


_quiesce = self_call(quiesce, int64)
