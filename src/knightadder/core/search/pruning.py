"""The decisions of a node: what is pruned, what is searched less or more deeply.

Each is a formula of the node's numbers; `search` says when it is asked, and what follows. Depths and reductions are in
plies, `lmr_depth` is the depth that late move reductions leave to a move.
"""

import math

import numpy as np

from knightadder.native.jit import inlined

from ..board.attacks import gives_direct_check
from ..board.bitboard import ZERO
from ..board.moves import NO_MOVE
from ..layout import KING, PAWN
from .history import frame_before, threat_index
from .movepick import GOOD_NOISY
from .see import see_at_least, value_won
from .transposition import (
    DECISIVE,
    MATE_FOUND,
    NO_EVAL,
    UPPER,
    entry_bound,
    entry_depth,
    entry_score,
)

_LARGE_REDUCTION = 3  # plies; Stockfish's

# Captures are futile up to this depth, left after reduction. Their history counts this much less.
_CAPTURE_FUTILITY_DEPTH, _CAPTURE_HISTORY_DIVISOR = 6, 64


@inlined
def is_improving(worker, ply):
    """Return 1 if the side to move stands better than at its last move, or is out of the check it was in, else 0."""
    now, before = worker.frames[ply].static_eval, frame_before(worker, ply, 2).static_eval
    return np.int64(now > before) if before != NO_EVAL else np.int64(now != NO_EVAL)


# --- the whole node --------------------------------------------------------------------------------------------------


@inlined
def hindsight_extension(parent, static_eval):
    """Return 1 if the last move was reduced much, but has not cost the opponent anything: it deserves a deeper look."""
    reduced = parent.reduction >= _LARGE_REDUCTION
    return np.int64(reduced and parent.static_eval != NO_EVAL and static_eval <= -parent.static_eval)


@inlined
def reverse_futility_pruned(tables, depth, static_eval, beta, improving):
    """Say whether the position is so far above beta that the opponent will not make it up in so few plies."""
    tuned = tables.parameters
    if depth > tuned.reverse_futility_depth or not -DECISIVE < beta < MATE_FOUND:
        return False
    return static_eval - tuned.reverse_futility_margin * (depth - improving) >= beta


@inlined
def razored(tables, depth, static_eval, alpha):
    """Say whether the position is so far below alpha that only captures could help."""
    return depth <= 3 and alpha < MATE_FOUND and static_eval + tables.parameters.razoring_margin * depth <= alpha


@inlined
def _has_pieces(pos):
    """Say whether the side to move has more than pawns and its king."""
    own = pos.by_color[pos.stm]
    return own & ~(pos.by_type[PAWN] | pos.by_type[KING]) != ZERO


@inlined
def null_move_reduction(tables, worker, pos, ply, depth, static_eval, refined, beta):
    """Return the reduction of the search after a null move; 0 where none is tried.

    If passing still fails high, a real move will, except in zugzwang, which is rare while the side to move has pieces.
    Two null moves in a row would prove nothing. `refined` is the evaluation, refined by the table.
    """
    tuned = tables.parameters
    if depth < 3 or refined < beta or not -DECISIVE < beta < MATE_FOUND:
        return np.int64(0)
    # Near the leaves, where the search after it is hardly more than captures, only from well above beta.
    enough = beta + tuned.null_move_margin - tuned.null_move_slope * depth
    if frame_before(worker, ply, 1).move == NO_MOVE or static_eval < enough or ply < worker.null_from_ply:
        return np.int64(0)
    if not _has_pieces(pos):
        return np.int64(0)
    reduction = (tuned.null_move_base + tuned.null_move_depth * depth) >> 10
    return reduction + min((refined - beta) // tuned.null_move_eval, 3)


@inlined
def probcut_tried(entry, ply, depth, beta, probcut_beta):
    """Say whether ProbCut is tried: not where the table knows better."""
    if depth < 5 or not -DECISIVE < beta < MATE_FOUND:
        return False
    return not (entry and entry_depth(entry) >= depth - 3 and entry_score(entry, ply) < probcut_beta)


# --- the hash move ---------------------------------------------------------------------------------------------------


@inlined
def singular_tried(tables, worker, entry, ply, depth):
    """Say whether to test the hash move for being singular: whether all other moves are clearly worse."""
    return (
        depth >= tables.parameters.singular_depth
        and ply < 2 * worker.root_depth
        and entry_depth(entry) >= depth - 3
        and entry_bound(entry) != UPPER
        and abs(entry_score(entry, ply)) < DECISIVE
    )


@inlined
def singular_extension(tables, score, singular_beta, hash_score, beta, is_pv, cut_node, hash_is_noisy):
    """Return by how many plies the hash move is extended, if `score` is the score of the others."""
    tuned = tables.parameters
    if score < singular_beta:
        if is_pv or score >= singular_beta - tuned.double_margin:
            return np.int64(1)
        return np.int64(2) if hash_is_noisy or score >= singular_beta - tuned.triple_margin else np.int64(3)
    # Another move comes close, so the hash move needs less depth to fail high.
    return np.int64(-2) if hash_score >= beta else -np.int64(cut_node)


# --- each move -------------------------------------------------------------------------------------------------------


@inlined
def late_move_reduction(tables, depth, move_count, is_quiet, history):
    """Return the reduction of a node's `move_count`-th move, in 1024ths of a ply.

    `history` is `quiet_history` or `capture_history`. `plies_to_reduce` adds what depends on the node. The formula, log
    of depth times log of move number, is Weiss's.
    """
    tuned = tables.parameters
    product = np.int64(tables.logs[min(depth, 63)]) * np.int64(tables.logs[min(move_count, 63)])
    # A division of the history would cost more than all the rest.
    if is_quiet:
        by_history = (history * tuned.reduction_history) >> 16
        return tuned.reduction_quiet_base + ((product * tuned.reduction_quiet) >> 20) - by_history
    by_history = (history * tuned.reduction_noisy_history) >> 16
    return tuned.reduction_noisy_base + ((product * tuned.reduction_noisy) >> 20) - by_history


@inlined
def plies_to_reduce(tables, reduction, depth, is_pv, was_pv, improving, cut_node, hash_is_noisy, gives_check):
    """Return by how many plies to reduce a late move, after all adjustments.

    `reduction` comes from `late_move_reduction`. At least one ply is left to search. In a PV node the result may be -1,
    which extends the search with a null window: what comes late there, but promises much, is worth that look. A second
    search, with the full window, has the usual depth.
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
    """Return how many quiet moves are searched: further down a well-ordered list, they hardly ever raise alpha."""
    return tables.parameters.late_moves + ((depth * depth) >> (1 - improving))


@inlined
def quiet_is_futile(tables, lmr_depth, static_eval, alpha):
    """Say whether even a good quiet move will not make up for standing so far below alpha."""
    tuned = tables.parameters
    margin = tuned.futility_base + tuned.futility_margin * lmr_depth
    return lmr_depth <= tuned.futility_depth and static_eval + margin <= alpha


@inlined
def quiet_is_pruned(tables, pos, frame, move, depth, lmr_depth, history, futile):
    """Say whether a quiet move is skipped: it is futile, has failed nearly everywhere, or loses material."""
    tuned = tables.parameters
    failing = lmr_depth <= 3 and history < -tuned.history_margin * depth
    if (futile or failing) and not gives_direct_check(pos, frame.check_squares, move):
        return True
    # A move between squares that the opponent does not attack loses nothing.
    if lmr_depth > 7 or not threat_index(frame, move):
        return False
    return not see_at_least(tables, pos, move, -tuned.see_quiet_margin * lmr_depth * lmr_depth)


@inlined
def noisy_is_pruned(tables, pos, frame, move, depth, lmr_depth, history, static_eval, alpha, may_be_futile):
    """Say whether a capture or promotion is skipped: it loses too much, or does not win enough to come near alpha."""
    tuned = tables.parameters
    # A good capture was found to lose nothing when it was picked.
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
