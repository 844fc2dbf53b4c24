"""Principal variation search: fail-soft negamax alpha-beta with the classical selective techniques."""

import numpy as np

from knightadder.native.jit import inlined, kernel, self_call
from knightadder.native.signatures import int64

from ..board.attacks import gives_direct_check
from ..board.bitboard import ZERO
from ..board.draw import is_draw
from ..board.movegen import is_legal
from ..board.moves import NO_MOVE, is_noisy
from ..board.repetition import can_repeat
from ..layout import MAX_PLY
from .correction import corrected_eval, corrects, update_corrections
from .history import (
    capture_history,
    clear_killers,
    frame_before,
    prepare_histories,
    quiet_history,
    update_by_eval,
    update_histories,
    update_post_lmr,
    update_prior_move,
)
from .make import make_move, make_null_move
from .movepick import next_move, start_picking
from .nodes import count_node
from .oversight import overlooks
from .pruning import (
    hindsight_extension,
    is_improving,
    late_move_count,
    late_move_reduction,
    noisy_is_pruned,
    null_move_reduction,
    plies_to_reduce,
    probcut_tried,
    quiet_is_futile,
    quiet_is_pruned,
    razored,
    reverse_futility_pruned,
    singular_extension,
    singular_tried,
)
from .pv import update_pv
from .quiescence import quiesce
from .root import find_root_move, update_root_move
from .see import see_at_least
from .tablebase_probe import may_probe, probe_score
from .transposition import (
    DECISIVE,
    EXACT,
    INFINITE,
    LOWER,
    MATE,
    MATE_FOUND,
    NO_EVAL,
    UPPER,
    cuts_off,
    entry_cuts_off,
    entry_depth,
    entry_move,
    entry_score,
    entry_was_pv,
    probe,
    refined_eval,
    store,
)

# From this halfmove clock on, table entries cause no cutoffs above quiescence search: the fifty-move rule may soon end
# the game, and the entries do not know the clock.
_FIFTY_MOVES_NEAR = 90

_SHALLOW_ENTRY_REDUCTION = 512  # 1024ths of a ply, in nodes whose table entry is much shallower

# Between these depths (exclusive), moves after one that raises alpha are searched a ply less deeply (Stockfish 16).
_MIN_RAISED_DEPTH, _MAX_RAISED_DEPTH = 2, 12

_PROBCUT_REDUCTION = 5  # plies, including the capture; from Stockfish

_NO_SCORE = -INFINITE  # returned by a shallow search that does not decide the node

# Minimum depth in plies at which null move cutoffs are verified: there a wrong cutoff would hide a long line.
_VERIFY_NULL_MOVES = 10


@kernel
def search(tables, worker, ply, depth, alpha, beta, cut_node):
    """Return the score of a position searched `depth` plies deep, in centipawns from the side to move's view.

    A score within (alpha, beta) is exact; a score outside is a bound. After ``worker.stopped`` is set, the score is
    meaningless. `ply` counts from the root. At the root, only the moves in the list of root moves are searched.
    `cut_node` is 1 where a move is expected to fail high, and 0 in PV nodes. The move in ``frame.excluded`` is skipped,
    to measure how close the other moves come to it. The function calls itself by the name `_search`.

    Each move has three depths, in plies. `new_depth` is the child's depth without reduction; extensions change it.
    `lmr_depth` is the depth that late move reductions would leave; pruning depends on it, before the move is made.
    ``new_depth - r`` is the depth of the first search of a late move.
    """
    pos = worker.stack[ply]
    tuned = tables.parameters
    is_root = ply == 0
    in_check = pos.checkers != ZERO
    if depth <= 0:
        return quiesce(tables, worker, ply, alpha, beta)
    frame, parent = worker.frames[ply], frame_before(worker, ply, 1)
    frame.pv_length = 0
    if count_node(worker, ply):
        return np.int64(0)
    worker.keys[worker.key_count + ply] = pos.key
    if not is_root:
        if is_draw(tables, worker, pos, frame, ply):
            return np.int64(0)
        if ply >= MAX_PLY:
            return np.int64(0) if in_check else corrected_eval(tables, worker, pos, ply)
        # A side that can return to an earlier position of the line has at least a draw.
        if alpha < 0 and can_repeat(tables, worker, pos, ply):
            alpha = np.int64(0)
        # Mate distance pruning: nothing here can improve on a mate that was already found nearer the root.
        alpha = max(alpha, ply - MATE)
        beta = min(beta, MATE - ply - 1)
        if alpha >= beta:
            return alpha
    is_pv = is_root or beta - alpha > 1
    excluded = frame.excluded

    child = worker.stack[ply + 1]
    child_frame = worker.frames[ply + 1]
    # The evaluation comes before the table, whose memory may still be on its way to the cache.
    if excluded != NO_MOVE:
        static_eval = np.int64(frame.static_eval)
    elif in_check:
        static_eval = NO_EVAL
    else:
        static_eval = corrected_eval(tables, worker, pos, ply)
    entry = probe(worker, pos.key)
    was_pv = np.int64(is_pv) | entry_was_pv(entry)
    hash_move = NO_MOVE
    if entry:
        if not is_pv and excluded == NO_MOVE and entry_depth(entry) >= depth and pos.rule50 < _FIFTY_MOVES_NEAR:
            if entry_cuts_off(entry, ply, alpha, beta):
                return entry_score(entry, ply)
        hash_move = entry_move(entry)
        if hash_move and not is_legal(tables, pos, hash_move):
            hash_move = NO_MOVE
    if is_root:  # the best move of the last iteration, even if the table has lost it
        hash_move = worker.root_moves[worker.pv_index].move

    # Endgame tablebases: a known result is not searched, unless there may be a nearer mate within the window.
    best_score, max_score = -INFINITE, INFINITE
    if excluded == NO_MOVE and not is_root and may_probe(worker, pos, depth):
        score, bound = probe_score(tables, worker, ply)
        if cuts_off(score, bound, alpha, beta):
            store(worker, pos.key, NO_MOVE, score, np.int64(MAX_PLY), bound, ply, was_pv)
            return score
        if bound == LOWER:
            best_score = score
            alpha = max(alpha, score)
        elif bound == UPPER:
            max_score = score

    frame.static_eval = static_eval
    improving = is_improving(worker, ply)
    if excluded == NO_MOVE and not is_root:
        update_by_eval(tables, worker, ply)
        if not in_check:
            depth += hindsight_extension(parent, static_eval)
    # The table's score comes from a search, so it is the better evaluation if its bound allows that.
    eval = static_eval
    if entry and not in_check:
        eval = refined_eval(entry, ply, eval)

    # Far outside the window, the evaluation or quiescence search decides.
    may_cut = not is_pv and not in_check and excluded == NO_MOVE
    if may_cut:
        if reverse_futility_pruned(tables, depth, eval, beta, improving):
            return min(eval, max_score)
        if razored(tables, depth, eval, alpha):
            score = quiesce(tables, worker, ply, alpha, alpha + 1)
            if score <= alpha or worker.stopped:
                return max(score, best_score)  # tablebases may know that the score is higher

    # Internal iterative reduction: without a hash move, the move ordering is poor. A shallower search will find a
    # hash move for the next visit.
    if hash_move == NO_MOVE and depth >= (3 if is_pv else 5) and not worker.proving:
        depth -= 1

    # Shallow searches, after a null move or a good capture, may decide the node.
    if may_cut:
        score = _null_move_score(tables, worker, ply, depth, static_eval, eval, beta, cut_node)
        if score != _NO_SCORE:
            return score
        score = _probcut_score(tables, worker, ply, depth, static_eval, beta, entry, hash_move, was_pv, cut_node)
        if score != _NO_SCORE:
            return score

    hash_is_noisy = hash_move != NO_MOVE and is_noisy(pos, hash_move)
    # Singular extension: if all other moves are clearly worse than the hash move at reduced depth, much depends on the
    # hash move, so it is searched deeper.
    extension = np.int64(0)
    if (
        hash_move != NO_MOVE
        and not is_root
        and excluded == NO_MOVE
        and singular_tried(tables, worker, entry, ply, depth)
    ):
        hash_score = entry_score(entry, ply)
        singular_beta = hash_score - depth * tuned.singular_margin // 16
        score = _singular_score(tables, worker, ply, (depth - 1) // 2, singular_beta, hash_move, cut_node)
        if worker.stopped:
            return np.int64(0)
        if score >= singular_beta and singular_beta >= beta:
            return singular_beta  # Multi-cut: even without the hash move this node fails high.
        extension = singular_extension(tables, score, singular_beta, hash_score, beta, is_pv, cut_node, hash_is_noisy)

    clear_killers(worker, ply + 2)
    prepare_histories(tables, worker, pos, frame, ply)
    start_picking(frame, hash_move, np.int64(1))
    best_move, bound = NO_MOVE, UPPER
    move_count, quiets, noisies, quiet_count = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    futile = overlooked = False
    # Whether root moves are left out: by the user, by tablebases, or because better lines begin with them (MultiPV).
    incomplete = is_root and worker.pv_index > 0
    root_index, nodes_before = np.int64(0), worker.nodes
    while True:
        move = next_move(tables, worker, pos, frame)
        if move == NO_MOVE:
            break
        if move == excluded:
            continue
        if worker.oversight and not is_root and not in_check and overlooks(tables, worker, pos, move, parent.move):
            overlooked = True
            continue
        if is_root:
            root_index = find_root_move(worker, move)
            if root_index < 0:
                incomplete = True
                continue
            worker.root_index = worker.pv_index + move_count
            nodes_before = worker.nodes
        move_count += 1
        is_quiet = not is_noisy(pos, move)
        # Nothing is pruned before a move avoids mate, nor where only a nearer mate could raise alpha.
        prunable = not is_root and best_score > -DECISIVE and alpha < MATE_FOUND
        prunable_quiet = prunable and is_quiet and not in_check
        if prunable_quiet:
            quiet_count += 1
            # Late move pruning and futility pruning: later quiet moves are no better. Moves that give check are exempt,
            # but the move picker puts most of them first, so after enough moves it need not look for more.
            too_late = quiet_count > late_move_count(tables, depth, improving)
            if (too_late or futile) and not gives_direct_check(pos, frame.check_squares, move):
                if too_late:
                    frame.with_quiets = 0
                continue
        history = quiet_history(worker, pos, frame, move) if is_quiet else capture_history(worker, pos, move)
        reduction = late_move_reduction(tables, depth, move_count, is_quiet, history)
        lmr_depth = max(depth - 1 - (reduction >> 10), 0)
        if prunable and not is_quiet:
            may_be_futile = move_count > 1 and not in_check
            if noisy_is_pruned(tables, pos, frame, move, depth, lmr_depth, history, static_eval, alpha, may_be_futile):
                continue
        if prunable_quiet:
            futile = quiet_is_futile(tables, lmr_depth, static_eval, alpha)
            if quiet_is_pruned(tables, pos, frame, move, depth, lmr_depth, history, futile):
                continue
        make_move(tables, worker, pos, frame, child, move, ply)
        new_depth = depth - 1
        if move == hash_move:
            new_depth += extension
        if move_count == 1:
            child_kind = np.int64(0) if is_pv else 1 - cut_node
            score = -_search(tables, worker, ply + 1, new_depth, -beta, -alpha, child_kind)
        else:
            # Late move reductions: late moves are searched less deeply until one proves better.
            r = np.int64(0)
            if depth >= 3 and move_count > 2 + is_pv and not worker.proving:
                gives_check = child.checkers != ZERO
                # If the table entry is much shallower, recent iterations have not reached this node, so it matters
                # little.
                if entry and entry_depth(entry) < depth - 3:
                    reduction += _SHALLOW_ENTRY_REDUCTION
                r = plies_to_reduce(
                    tables, reduction, depth, is_pv, was_pv, improving, cut_node, hash_is_noisy, gives_check
                )
            score = _late_move_score(
                tables, worker, ply, move, new_depth, r, alpha, beta, best_score, is_quiet, cut_node
            )
        if is_root:
            worker.root_moves[root_index].nodes += worker.nodes - nodes_before
        if worker.stopped:
            return np.int64(0)
        if is_root and (score > alpha or (move_count == 1 and not worker.proving)):
            update_root_move(worker, root_index, score, alpha, beta)
        if score > best_score:
            best_score = score
            if score > alpha:
                alpha = score
                best_move = move
                bound = EXACT
                if is_pv:
                    update_pv(frame, child_frame, move)
                if score >= beta:
                    bound = LOWER
                    update_histories(tables, worker, pos, frame, move, depth, is_quiet, quiets, noisies)
                    break
                # A second move seldom raises alpha, so the remaining moves are searched a ply less deeply.
                if not is_root and _MIN_RAISED_DEPTH < depth < _MAX_RAISED_DEPTH and abs(score) < DECISIVE:
                    depth -= 1
        if is_quiet:
            frame.quiets[quiets] = move
            quiets += 1
        else:
            frame.noisies[noisies] = move
            noisies += 1

    if move_count == 0:
        if excluded != NO_MOVE:
            return alpha
        if overlooked:
            return static_eval
        return ply - MATE if in_check else np.int64(0)
    if best_score > max_score:  # tablebases know that the score is lower
        best_score, bound = max_score, UPPER
    # If moves were left out, the score is not the position's.
    if excluded == NO_MOVE and not incomplete:
        if best_move == NO_MOVE and not is_root:
            update_prior_move(tables, worker, worker.stack[ply - 1], parent, depth)
        # The evaluation judges quiet positions, so what a capture wins is not its error.
        is_quiet = not in_check and (best_move == NO_MOVE or not is_noisy(pos, best_move))
        if is_quiet and worker.misjudgement == 0 and corrects(bound, best_score, static_eval):
            update_corrections(worker, pos, ply, best_score - static_eval, depth)
        store(worker, pos.key, best_move, best_score, depth, bound, ply, was_pv)
    return best_score


# --- The searches within `search`, which are inlined into it ----------------------------------------------------------


@inlined
def _null_move_score(tables, worker, ply, depth, static_eval, eval, beta, cut_node):
    """Return a score that fails high although the side to move passes (*null move pruning*), or `_NO_SCORE`."""
    pos, frame, child = worker.stack[ply], worker.frames[ply], worker.stack[ply + 1]
    reduction = null_move_reduction(tables, worker, pos, ply, depth, static_eval, eval, beta)
    if reduction == 0:
        return _NO_SCORE
    make_null_move(tables, worker, pos, frame, child)
    score = -_search(tables, worker, ply + 1, depth - reduction, -beta, 1 - beta, 1 - cut_node)
    if worker.stopped:
        return np.int64(0)
    if score < beta:
        return _NO_SCORE
    score = beta if score >= DECISIVE else score
    if depth < _VERIFY_NULL_MOVES or worker.null_from_ply > 0:
        return score
    # At high depth zugzwang could hide a long line, so a search of real moves must confirm the cutoff.
    worker.null_from_ply = ply + (depth - reduction) * 3 // 4 + 1
    verified = _search(tables, worker, ply, depth - reduction, beta - 1, beta, np.int64(0))
    worker.null_from_ply = 0
    if worker.stopped:
        return np.int64(0)
    return score if verified >= beta else _NO_SCORE


@inlined
def _probcut_score(tables, worker, ply, depth, static_eval, beta, entry, hash_move, was_pv, cut_node):
    """Return the score of a capture that beats beta by a margin at reduced depth, as it would nearly always beat beta
    at full depth (*ProbCut*); `_NO_SCORE` if there is none.
    """
    pos, frame, child = worker.stack[ply], worker.frames[ply], worker.stack[ply + 1]
    probcut_beta = beta + tables.parameters.probcut_margin
    if not probcut_tried(entry, ply, depth, beta, probcut_beta):
        return _NO_SCORE
    start_picking(frame, hash_move, np.int64(0))
    while True:
        move = next_move(tables, worker, pos, frame)
        if move == NO_MOVE:
            return _NO_SCORE
        if not is_noisy(pos, move) or not see_at_least(tables, pos, move, probcut_beta - static_eval):
            continue
        make_move(tables, worker, pos, frame, child, move, ply)
        score = -quiesce(tables, worker, ply + 1, -probcut_beta, 1 - probcut_beta)
        if score >= probcut_beta:
            score = -_search(
                tables, worker, ply + 1, depth - _PROBCUT_REDUCTION, -probcut_beta, 1 - probcut_beta, 1 - cut_node
            )
        if worker.stopped:
            return np.int64(0)
        if score >= probcut_beta:
            store(worker, pos.key, move, score, depth - _PROBCUT_REDUCTION + 1, LOWER, ply, was_pv)
            return score


@inlined
def _singular_score(tables, worker, ply, depth, beta, move, cut_node):
    """Return the score of all moves but one, searched with a null window below `beta`."""
    frame = worker.frames[ply]
    frame.excluded = move
    score = _search(tables, worker, ply, depth, beta - 1, beta, cut_node)
    frame.excluded = NO_MOVE
    return score


@inlined
def _late_move_score(tables, worker, ply, move, new_depth, r, alpha, beta, best_score, is_quiet, cut_node):
    """Return the score of a move other than the first. The move has already been made.

    The first search is reduced and has a null window. If its score raises alpha, the move is searched again with less
    or no reduction. In a PV node a score above alpha needs a last search with the full window.
    """
    pos, frame = worker.stack[ply], worker.frames[ply]
    frame.reduction = r
    score = -_search(tables, worker, ply + 1, new_depth - r, -alpha - 1, -alpha, np.int64(1))
    frame.reduction = 0
    if score > alpha and r > 0 and not worker.stopped:
        # The move is better than expected. Its score decides the depth of the second search.
        reduced_depth = new_depth - r
        new_depth += score > best_score + tables.parameters.deeper_margin
        new_depth -= score < best_score + new_depth
        if new_depth > reduced_depth:
            score = -_search(tables, worker, ply + 1, new_depth, -alpha - 1, -alpha, 1 - cut_node)
            if is_quiet and (score <= alpha or score >= beta) and not worker.stopped:
                update_post_lmr(tables, worker, pos, frame, move, new_depth, score >= beta)
    if score > alpha and score < beta and not worker.stopped:
        score = -_search(tables, worker, ply + 1, new_depth, -beta, -alpha, np.int64(0))
    return score


_search = self_call(search, int64)
