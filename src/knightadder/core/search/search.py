"""Principal variation search: negamax alpha-beta, fail-soft, with the classical selective techniques."""

import math

import numpy as np

from knightadder.native.jit import inlined, kernel, self_call
from knightadder.native.signatures import int64

from ..board.attacks import gives_direct_check
from ..board.bitboard import ZERO
from ..board.draw import is_draw
from ..board.movegen import is_legal
from ..board.moves import NO_MOVE, is_noisy
from ..board.position import make, make_null
from ..board.repetition import can_repeat
from ..layout import KING, MAX_PLY, PAWN
from .correction import corrected_eval, update_corrections
from .history import (
    attacked_ends,
    capture_history,
    clear_killers,
    frame_before,
    piece_to,
    prepare_histories,
    quiet_history,
    update_by_eval,
    update_histories,
    update_prior_move,
    update_searched_again,
)
from .movepick import GOOD_NOISY, next_move, start_picking
from .pv import update_pv
from .quiescence import count_node, quiesce
from .root import find_root_move, keep_line
from .see import see_at_least, value_won
from .tablebases import may_probe, probe_score
from .transposition import (
    DECISIVE,
    EXACT,
    INFINITE,
    LOWER,
    MATE,
    MATE_FOUND,
    NO_EVAL,
    UPPER,
    entry_bound,
    entry_cuts_off,
    entry_depth,
    entry_move,
    entry_score,
    entry_was_pv,
    prefetch_entry,
    probe,
    refined_eval,
    store,
)

# From this count on the fifty-move rule may soon end the game. The table does not know the count, so its scores could
# hide the draw.
_FIFTY_MOVES_NEAR = 90

_SHALLOW_ENTRY_REDUCTION = 512  # 1024ths of a ply

# Between these depths, exclusive, a move that raised alpha leaves a ply less to the others. The bounds: Stockfish 16.
_RAISED_LEAST, _RAISED_MOST = 2, 12

_LARGE_REDUCTION = 3  # plies; Stockfish's

# Captures are futile up to this depth in plies, left after reduction. Their history counts this much less.
_CAPTURE_FUTILITY_DEPTH, _CAPTURE_HISTORY_DIVISOR = 6, 64

_PROBCUT_REDUCTION = 5  # plies, that of the capture included; Stockfish's

_VERIFY_NULL_MOVES = 10  # least depth in plies at which cutoffs are verified: a wrong one would hide a long line


@inlined
def late_move_reduction(tables, depth, move_count, is_quiet, history):
    """Return the reduction of a node's `move_count`-th move, in 1024ths of a ply.

    `history` is `quiet_history` or `capture_history`. `plies_to_reduce` adds what depends on the node. The formula, log
    of depth times log of move number, is Weiss's.
    """
    tuned = tables.parameters
    product = np.int64(tables.logs[np.uint64(min(depth, 63))]) * np.int64(tables.logs[np.uint64(min(move_count, 63))])
    # A division of the history would cost more than all the rest.
    if is_quiet:
        by_history = history * tuned.reduction_history >> 16
        return tuned.reduction_quiet_base + (product * tuned.reduction_quiet >> 20) - by_history
    by_history = history * tuned.reduction_noisy_history >> 16
    return tuned.reduction_noisy_base + (product * tuned.reduction_noisy >> 20) - by_history


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
def _has_pieces(pos):
    """Say whether the side to move has more than pawns and its king."""
    own = pos.by_color[np.uint64(pos.stm)]
    return own & ~(pos.by_type[PAWN] | pos.by_type[KING]) != ZERO


@inlined
def is_improving(worker, ply):
    """Return 1 if the side to move stands better than at its last move, or is out of the check it was in, else 0."""
    now, before = worker.frames[np.uint64(ply)].static_eval, frame_before(worker, ply, 2).static_eval
    return np.int64(now > before) if before != NO_EVAL else np.int64(now != NO_EVAL)


@kernel
def search(tables, worker, ply, depth, alpha, beta, cut_node):
    """Return the value of a position in centipawns, for the side to move, searched `depth` plies deep.

    A return value within (alpha, beta) is exact; one outside is a bound. After ``worker.stopped`` is set the value
    is meaningless. `ply` counts from the root, which differs little from other PV nodes: nothing but its moves decides
    it, and only those in the list of root moves are searched. `cut_node` is 1 where a move is expected to fail high,
    and 0 in PV nodes. The move in ``frame.excluded`` is skipped, to see how close the others come to it. The function
    calls itself by the name `_search`.
    """
    pos = worker.stack[np.uint64(ply)]
    tuned = tables.parameters
    is_root = ply == 0
    in_check = pos.checkers != ZERO
    if depth <= 0:
        return quiesce(tables, worker, ply, alpha, beta)
    frame, parent = worker.frames[np.uint64(ply)], frame_before(worker, ply, 1)
    frame.pv_length = 0
    if count_node(worker, ply):
        return np.int64(0)
    worker.keys[np.uint64(worker.key_count + ply)] = pos.key
    if not is_root:
        if is_draw(tables, worker, pos, frame, ply):
            return np.int64(0)
        if ply >= MAX_PLY:
            return np.int64(0) if in_check else corrected_eval(tables, worker, pos, ply)
        # A side that can go back to an earlier position of the line has at least a draw.
        if alpha < 0 and can_repeat(tables, worker, pos, ply):
            alpha = np.int64(0)
        # Mate distance pruning: nothing here can improve on a mate already found nearer the root.
        alpha = max(alpha, ply - MATE)
        beta = min(beta, MATE - ply - 1)
        if alpha >= beta:
            return alpha
    is_pv = is_root or beta - alpha > 1
    excluded = frame.excluded

    child = worker.stack[np.uint64(ply + 1)]
    child_frame = worker.frames[np.uint64(ply + 1)]
    # Evaluate before reading the table: its memory may still be on the way to the cache.
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
    if is_root:  # the last iteration's best move, which the table may have lost
        hash_move = worker.root_moves[np.uint64(worker.pv_index)].move

    # Endgame tablebases: what they know need not be searched, unless there may be a nearer mate within the window.
    best, most = -INFINITE, INFINITE
    if excluded == NO_MOVE and not is_root and may_probe(worker, pos, depth):
        score, bound = probe_score(tables, worker, ply)
        if bound == EXACT or (bound == LOWER and score >= beta) or (bound == UPPER and score <= alpha):
            store(worker, pos.key, NO_MOVE, score, np.int64(MAX_PLY), bound, ply, was_pv)
            return score
        if bound == LOWER:
            best = score
            alpha = max(alpha, score)
        elif bound == UPPER:
            most = score

    frame.static_eval = static_eval
    improving = is_improving(worker, ply)
    if excluded == NO_MOVE and not is_root:
        update_by_eval(tables, worker, ply)
        # Hindsight: the last move was reduced much, but has not cost the opponent anything; it deserves a deeper look.
        if not in_check and parent.reduction >= _LARGE_REDUCTION:
            if parent.static_eval != NO_EVAL and static_eval <= -parent.static_eval:
                depth += 1
    # The table's score comes from a search: where its bound allows, it is a better evaluation.
    value = static_eval
    if entry and not in_check:
        value = refined_eval(entry, ply, value)

    # Reverse futility pruning: so far above beta that the opponent will not make it up in so few plies.
    if not is_pv and not in_check and excluded == NO_MOVE and depth <= tuned.reverse_futility_depth:
        if value - tuned.reverse_futility_margin * (depth - improving) >= beta and -DECISIVE < beta < MATE_FOUND:
            return min(value, most)

    # Razoring: so far below alpha that only captures could help, so quiescence search may say that they don't.
    if not is_pv and not in_check and excluded == NO_MOVE and depth <= 3 and alpha < MATE_FOUND:
        if value + tuned.razoring_margin * depth <= alpha:
            score = quiesce(tables, worker, ply, alpha, alpha + 1)
            if score <= alpha or worker.stopped:
                return score

    # Internal iterative reduction: without a move from the table the ordering is poor, and a shallower search will
    # find one for the next visit.
    if hash_move == NO_MOVE and depth >= (3 if is_pv else 5) and not worker.proving:
        depth -= 1

    # Null move pruning: if passing still fails high, a real move will, except in zugzwang, which is rare while the
    # side to move has pieces. Two null moves in a row would prove nothing.
    if (
        not is_pv
        and not in_check
        and excluded == NO_MOVE
        and depth >= 3
        and value >= beta
        and -DECISIVE < beta < MATE_FOUND
    ):
        # Near the leaves, where the search after it is hardly more than captures, only from well above beta.
        enough = beta + tuned.null_move_margin - tuned.null_move_slope * depth
        if parent.move != NO_MOVE and static_eval >= enough and ply >= worker.null_from_ply and _has_pieces(pos):
            reduction = tuned.null_move_base + tuned.null_move_depth * depth >> 10
            reduction += min((value - beta) // tuned.null_move_eval, 3)
            frame.move = NO_MOVE
            frame.piece_to = 0
            prefetch_entry(worker, pos.key ^ tables.zobrist_stm)
            make_null(tables, pos, child)
            score = -_search(tables, worker, ply + 1, depth - reduction, -beta, 1 - beta, 1 - cut_node)
            if worker.stopped:
                return np.int64(0)
            if score >= beta:
                score = beta if score >= DECISIVE else score
                if depth < _VERIFY_NULL_MOVES or worker.null_from_ply > 0:
                    return score
                # At such depths zugzwang could hide a whole line: a search of real moves must confirm the cutoff.
                worker.null_from_ply = ply + (depth - reduction) * 3 // 4 + 1
                verified = _search(tables, worker, ply, depth - reduction, beta - 1, beta, np.int64(0))
                worker.null_from_ply = 0
                if worker.stopped:
                    return np.int64(0)
                if verified >= beta:
                    return score

    # ProbCut: a capture that at reduced depth beats beta by a margin would nearly always beat beta at full depth.
    probcut_beta = beta + tuned.probcut_margin
    if (
        not is_pv
        and not in_check
        and excluded == NO_MOVE
        and depth >= 5
        and -DECISIVE < beta < MATE_FOUND
        and not (entry and entry_depth(entry) >= depth - 3 and entry_score(entry, ply) < probcut_beta)
    ):
        start_picking(frame, hash_move, np.int64(0))
        while True:
            move = next_move(tables, worker, pos, frame)
            if move == NO_MOVE:
                break
            if not is_noisy(pos, move) or not see_at_least(tables, pos, move, probcut_beta - static_eval):
                continue
            make(tables, pos, child, move)
            prefetch_entry(worker, child.key)
            frame.move = move
            frame.piece_to = piece_to(pos, move)
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

    hash_is_noisy = hash_move != NO_MOVE and is_noisy(pos, hash_move)
    # Singular extension: when all other moves are clearly worse than the hash move, at reduced depth, much depends on
    # that one, so it is searched deeper.
    extension = np.int64(0)
    if (
        hash_move != NO_MOVE
        and not is_root
        and excluded == NO_MOVE
        and depth >= tuned.singular_depth
        and ply < 2 * worker.root_depth
        and entry_depth(entry) >= depth - 3
        and entry_bound(entry) != UPPER
        and abs(entry_score(entry, ply)) < DECISIVE
    ):
        singular_beta = entry_score(entry, ply) - depth * tuned.singular_margin // 16
        frame.excluded = hash_move
        score = _search(tables, worker, ply, (depth - 1) // 2, singular_beta - 1, singular_beta, cut_node)
        frame.excluded = NO_MOVE
        if worker.stopped:
            return np.int64(0)
        if score < singular_beta:
            extension = np.int64(1)
            if not is_pv and score < singular_beta - tuned.double_margin:
                extension += 1
                if not hash_is_noisy and score < singular_beta - tuned.triple_margin:
                    extension += 1
        elif singular_beta >= beta:
            # Multi-cut: even without the hash move this node fails high.
            return singular_beta
        elif entry_score(entry, ply) >= beta:
            # Another move comes close, so the hash move needs less depth to fail high.
            extension = np.int64(-2)
        elif cut_node:
            extension = np.int64(-1)

    clear_killers(worker, ply + 2)
    prepare_histories(tables, worker, pos, frame, ply)
    start_picking(frame, hash_move, np.int64(1))
    best_move, bound = NO_MOVE, UPPER
    move_count, quiets, noisies, quiet_count = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    futile = False
    root_index, nodes_before = np.int64(0), worker.nodes
    while True:
        move = next_move(tables, worker, pos, frame)
        if move == NO_MOVE:
            break
        if move == excluded:
            continue
        if is_root:
            root_index = find_root_move(worker, move)
            if root_index < 0:
                continue
            worker.root_index = worker.pv_index + move_count
            nodes_before = worker.nodes
        move_count += 1
        is_quiet = not is_noisy(pos, move)
        # Not before there is a move that saves from mate, and not where only a nearer mate is looked for.
        prunable = not is_root and best > -DECISIVE and alpha < MATE_FOUND
        prunable_quiet = prunable and is_quiet and not in_check
        if prunable_quiet:
            quiet_count += 1
            # Late move pruning: this far down a well-ordered list at low depth, quiet moves hardly ever raise alpha.
            # Those that give check came first.
            if quiet_count > tuned.late_moves + (depth * depth >> 1 - improving):
                if not gives_direct_check(pos, frame.check_squares, move):
                    frame.with_quiets = 0
                    continue
            if futile and not gives_direct_check(pos, frame.check_squares, move):
                continue
        history = quiet_history(worker, pos, frame, move) if is_quiet else capture_history(worker, pos, move)
        reduction = late_move_reduction(tables, depth, move_count, is_quiet, history)
        lmr_depth = max(depth - 1 - (reduction >> 10), 0)
        if prunable and not is_quiet:
            # SEE pruning: an exchange that loses this much rarely wins it back in so few plies. A good capture was
            # found to lose nothing when it was picked.
            if depth <= 7 and frame.stage != GOOD_NOISY:
                if not see_at_least(tables, pos, move, -tuned.see_noisy_margin * depth):
                    continue
            # Futility pruning of captures: not even what the capture wins brings the evaluation near alpha.
            if lmr_depth <= _CAPTURE_FUTILITY_DEPTH and move_count > 1 and not in_check:
                margin = tuned.capture_base + tuned.capture_margin * lmr_depth
                margin += value_won(pos, move) + history // _CAPTURE_HISTORY_DIVISOR
                if static_eval + margin <= alpha and not gives_direct_check(pos, frame.check_squares, move):
                    continue
        if prunable_quiet:
            # Futility pruning: even a good quiet move will not make up for standing so far below alpha, and those that
            # come after it are no better.
            margin = tuned.futility_base + tuned.futility_margin * lmr_depth
            futile = lmr_depth <= tuned.futility_depth and static_eval + margin <= alpha
            # History pruning: a move that has failed nearly everywhere will fail here.
            failing = lmr_depth <= 3 and history < -tuned.history_margin * depth
            if (futile or failing) and not gives_direct_check(pos, frame.check_squares, move):
                continue
            # A move between squares that the opponent does not attack loses nothing.
            if lmr_depth <= 7 and attacked_ends(frame, move):
                if not see_at_least(tables, pos, move, -tuned.see_quiet_margin * lmr_depth * lmr_depth):
                    continue
        make(tables, pos, child, move)
        prefetch_entry(worker, child.key)
        frame.move = move
        frame.piece_to = piece_to(pos, move)
        new_depth = depth - 1
        if move == hash_move:
            new_depth += extension
        if move_count == 1:
            child_kind = np.int64(0) if is_pv else 1 - cut_node
            score = -_search(tables, worker, ply + 1, new_depth, -beta, -alpha, child_kind)
        else:
            # Late move reductions: moves that come late are searched less deeply until one proves better.
            plies = np.int64(0)
            if depth >= 3 and move_count > 2 + is_pv and not worker.proving:
                gives_check = child.checkers != ZERO
                # An entry so much shallower says that the search has passed this node by: it matters little.
                if entry and entry_depth(entry) < depth - 3:
                    reduction += _SHALLOW_ENTRY_REDUCTION
                plies = plies_to_reduce(
                    tables, reduction, depth, is_pv, was_pv, improving, cut_node, hash_is_noisy, gives_check
                )
            frame.reduction = plies
            score = -_search(tables, worker, ply + 1, new_depth - plies, -alpha - 1, -alpha, np.int64(1))
            frame.reduction = 0
            if score > alpha and plies > 0 and not worker.stopped:
                # The move is better than expected: its score decides how deep to search it again.
                reduced = new_depth - plies
                new_depth += score > best + tuned.deeper_margin
                new_depth -= score < best + new_depth
                if new_depth > reduced:
                    score = -_search(tables, worker, ply + 1, new_depth, -alpha - 1, -alpha, 1 - cut_node)
                    if is_quiet and (score <= alpha or score >= beta) and not worker.stopped:
                        update_searched_again(tables, worker, pos, frame, move, new_depth, score >= beta)
            if score > alpha and score < beta and not worker.stopped:
                score = -_search(tables, worker, ply + 1, new_depth, -beta, -alpha, np.int64(0))
        if is_root:
            worker.root_moves[np.uint64(root_index)].nodes += worker.nodes - nodes_before
        if worker.stopped:
            return np.int64(0)
        if is_root and (score > alpha or (move_count == 1 and not worker.proving)):
            keep_line(worker, root_index, score, alpha, beta)
        if score > best:
            best = score
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
                # A second move that raises alpha is rare, so the rest of the moves get a ply less to prove it.
                if not is_root and _RAISED_LEAST < depth < _RAISED_MOST and abs(score) < DECISIVE:
                    depth -= 1
        if is_quiet:
            frame.quiets[np.uint64(quiets)] = move
            quiets += 1
        else:
            frame.noisies[np.uint64(noisies)] = move
            noisies += 1

    if move_count == 0:
        if excluded != NO_MOVE:
            return alpha
        return ply - MATE if in_check else np.int64(0)
    if best > most:  # tablebases know that it is less
        best, bound = most, UPPER
    # A second line's search has not seen the best moves.
    if excluded == NO_MOVE and not (is_root and worker.pv_index > 0):
        if best_move == NO_MOVE and not is_root:
            update_prior_move(tables, worker, worker.stack[np.uint64(ply - 1)], parent, depth)
        # What a capture wins is none of the evaluation's business, and a bound tells something only beyond it.
        quiet = not in_check and (best_move == NO_MOVE or not is_noisy(pos, best_move))
        if quiet and not (bound == LOWER and best <= static_eval) and not (bound == UPPER and best >= static_eval):
            update_corrections(worker, pos, ply, best - static_eval, depth)
        store(worker, pos.key, best_move, best, depth, bound, ply, was_pv)
    return best


_search = self_call(search, int64)


def fill_tables(tables):
    """Fill the logarithms of a TABLES record, for late move reductions."""
    for number in range(1, 64):
        tables.logs[number] = int(1024 * math.log(number))
