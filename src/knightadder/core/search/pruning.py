"""The selective decisions of a node: pruning, extensions and reductions.

Each function is a formula of the node's values. `search` decides when to call it, and acts on the result. Depths and
reductions are in plies. `lmr_depth` is the depth that late move reductions would leave to a move.
"""

import math

import numpy as np

from knightadder.native.jit import inlined

from ..board.attacks import gives_direct_check
from ..board.bitboard import ZERO
from ..board.moves import NO_MOVE
from ..evaluation.endings import KNOWN_WIN
from ..layout import KING, PAWN
from .history import frame_before, threat_index
from .movepick import GOOD_NOISY
from .see import see_at_least, value_won
from .transposition import DECISIVE, MATE_FOUND, NO_EVAL, UPPER, entry_bound, entry_depth, entry_score

_LARGE_REDUCTION = 3  # plies; from Stockfish

# Futility pruning of captures: the maximum depth after reduction, and the divisor of the capture history.
_CAPTURE_FUTILITY_DEPTH, _CAPTURE_HISTORY_DIVISOR = 6, 64


@inlined
def is_improving(worker, ply):
    """Return 1 if the side to move stands better than two plies ago, or was in check then but is not now; else 0."""
    now, before = worker.frames[ply].static_eval, frame_before(worker, ply, 2).static_eval
    return np.int64(now > before) if before != NO_EVAL else np.int64(now != NO_EVAL)


# --- the whole node --------------------------------------------------------------------------------------------------


@inlined
def hindsight_extension(parent, static_eval):
    """Return 1 ply if the last move was much reduced but has not worsened its side's evaluation, so that it is probably
    better than the reduction assumed; else 0.
    """
    reduced = parent.reduction >= _LARGE_REDUCTION
    return np.int64(reduced and parent.static_eval != NO_EVAL and static_eval <= -parent.static_eval)


@inlined
def reverse_futility_pruned(tables, depth, static_eval, beta, improving):
    """Return whether the evaluation is so far above beta that the opponent will not make it up in so few plies. A known
    win is searched, because a single capture can make the position a draw.
    """
    tuned = tables.parameters
    if depth > tuned.reverse_futility_depth or static_eval >= KNOWN_WIN or not -DECISIVE < beta < MATE_FOUND:
        return False
    return static_eval - tuned.reverse_futility_margin * (depth - improving) >= beta


@inlined
def razored(tables, depth, static_eval, alpha):
    """Return whether the evaluation is so far below alpha that only captures could help."""
    return depth <= 3 and alpha < MATE_FOUND and static_eval + tables.parameters.razoring_margin * depth <= alpha


@inlined
def _has_pieces(pos):
    """Return whether the side to move has any piece other than pawns and its king."""
    own = pos.by_color[pos.stm]
    return own & ~(pos.by_type[PAWN] | pos.by_type[KING]) != ZERO


@inlined
def null_move_reduction(tables, worker, pos, ply, depth, static_eval, refined, beta):
    """Return the depth reduction of the search after a null move; 0 if no null move is tried.

    If passing fails high, a real move will fail high, too. The exception is zugzwang, which is rare while the side to
    move has pieces. Two null moves in a row would prove nothing. `refined` is the evaluation after `refined_eval`.
    """
    tuned = tables.parameters
    if depth < 3 or refined < beta or not -DECISIVE < beta < MATE_FOUND:
        return np.int64(0)
    # At low depth, the search after the null move is little more than captures, so it needs a margin above beta.
    enough = beta + tuned.null_move_margin - tuned.null_move_slope * depth
    if frame_before(worker, ply, 1).move == NO_MOVE or static_eval < enough or ply < worker.null_from_ply:
        return np.int64(0)
    if not _has_pieces(pos):
        return np.int64(0)
    reduction = (tuned.null_move_base + tuned.null_move_depth * depth) >> 10
    return reduction + min((refined - beta) // tuned.null_move_eval, 3)


@inlined
def probcut_tried(entry, ply, depth, beta, probcut_beta):
    """Return whether to try ProbCut. It is not tried if a deep enough table entry contradicts it."""
    if depth < 5 or not -DECISIVE < beta < MATE_FOUND:
        return False
    return not (entry and entry_depth(entry) >= depth - 3 and entry_score(entry, ply) < probcut_beta)


# --- the hash move ---------------------------------------------------------------------------------------------------


@inlined
def singular_tried(tables, worker, entry, ply, depth):
    """Return whether to test the hash move for being singular, that is, clearly better than all other moves. The table
    entry must be almost as deep as this search, and its score neither an upper bound nor decisive.
    """
    return (
        depth >= tables.parameters.singular_depth
        and ply < 2 * worker.root_depth
        and entry_depth(entry) >= depth - 3
        and entry_bound(entry) != UPPER
        and abs(entry_score(entry, ply)) < DECISIVE
    )


@inlined
def singular_extension(tables, score, singular_beta, hash_score, beta, is_pv, cut_node, hash_is_noisy):
    """Return the extension of the hash move in plies; `score` is the best score of the other moves."""
    tuned = tables.parameters
    if score < singular_beta:
        if is_pv or score >= singular_beta - tuned.double_margin:
            return np.int64(1)
        return np.int64(2) if hash_is_noisy or score >= singular_beta - tuned.triple_margin else np.int64(3)
    # Another move is nearly as good, so the node probably fails high even if the hash move is searched less deeply.
    return np.int64(-2) if hash_score >= beta else -np.int64(cut_node)


# --- each move -------------------------------------------------------------------------------------------------------


@inlined
def late_move_reduction(tables, depth, move_count, is_quiet, history):
    """Return the reduction of a node's `move_count`-th move, in 1024ths of a ply, by Weiss's formula, log(depth) times
    log(move number). `history` is the move's `quiet_history` or `capture_history`.
    """
    tuned = tables.parameters
    product = np.int64(tables.logs[min(depth, 63)]) * np.int64(tables.logs[min(move_count, 63)])
    # The history is shifted, because a division would take longer than the rest of the function.
    if is_quiet:
        by_history = (history * tuned.reduction_history) >> 16
        return tuned.reduction_quiet_base + ((product * tuned.reduction_quiet) >> 20) - by_history
    by_history = (history * tuned.reduction_noisy_history) >> 16
    return tuned.reduction_noisy_base + ((product * tuned.reduction_noisy) >> 20) - by_history


@inlined
def plies_to_reduce(tables, reduction, depth, is_pv, was_pv, improving, cut_node, hash_is_noisy, gives_check):
    """Return the reduction of a late move in plies, after all adjustments for the node.

    `reduction` comes from `late_move_reduction`. At least one ply of depth is left. In a PV node the result may be -1:
    then the null-window search of a promising late move is a ply deeper than usual. Its second search, with the full
    window, has the usual depth.
    """
    tuned = tables.parameters
    reduction -= tuned.reduction_pv if is_pv else tuned.reduction_was_pv * was_pv
    reduction -= tuned.reduction_improving * improving
    reduction += tuned.reduction_cut_node * cut_node
    reduction += tuned.reduction_hash_capture * hash_is_noisy
    reduction -= tuned.reduction_check * gives_check
    return max(-np.int64(is_pv), min(reduction >> 10, depth - 2))


@inlined
def late_move_count(tables, depth, improving):
    """Return how many quiet moves to search. Later moves of a well-ordered list hardly ever raise alpha."""
    return tables.parameters.late_moves + ((depth * depth) >> (1 - improving))


@inlined
def quiet_is_futile(tables, lmr_depth, static_eval, alpha):
    """Return whether the evaluation is so far below alpha that even a good quiet move will not make it up."""
    tuned = tables.parameters
    margin = tuned.futility_base + tuned.futility_margin * lmr_depth
    return lmr_depth <= tuned.futility_depth and static_eval + margin <= alpha


@inlined
def quiet_is_pruned(tables, pos, frame, move, depth, lmr_depth, history, futile):
    """Return whether to skip a quiet move: it is futile, has nearly always failed, or loses material."""
    tuned = tables.parameters
    failing = lmr_depth <= 3 and history < -tuned.history_margin * depth
    if (futile or failing) and not gives_direct_check(pos, frame.check_squares, move):
        return True
    # A move between squares that the opponent does not attack loses no material.
    if lmr_depth > 7 or not threat_index(frame.threats, move):
        return False
    return not see_at_least(tables, pos, move, -tuned.see_quiet_margin * lmr_depth * lmr_depth)


@inlined
def noisy_is_pruned(tables, pos, frame, move, depth, lmr_depth, history, static_eval, alpha, may_be_futile):
    """Return whether to skip a capture or promotion: it loses too much, or wins too little to come near alpha."""
    tuned = tables.parameters
    # The move picker has already tested that captures of the stage GOOD_NOISY lose no material.
    if depth <= 7 and frame.stage != GOOD_NOISY:
        if not see_at_least(tables, pos, move, -tuned.see_noisy_margin * depth):
            return True
    if not may_be_futile or lmr_depth > _CAPTURE_FUTILITY_DEPTH:
        return False
    margin = tuned.capture_base + tuned.capture_margin * lmr_depth
    margin += value_won(pos, move) + history // _CAPTURE_HISTORY_DIVISOR
    return static_eval + margin <= alpha and not gives_direct_check(pos, frame.check_squares, move)


def fill_tables(tables):
    """Fill the logarithms of a TABLES record, for late move reductions."""
    for number in range(1, 64):
        tables.logs[number] = int(1024 * math.log(number))
