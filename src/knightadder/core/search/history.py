"""Move-ordering memory: histories of moves, and killer moves.

The butterfly history indexes quiet moves by side, from and to, and by which of these squares the opponent attacks:
fleeing differs from walking into danger. The continuation history indexes them by piece and target, and by those of
the move 1, 2 or 4 plies before; the capture history indexes captures by piece, target and victim. Entries move towards
±`LIMIT` by "gravity": a bonus counts for less the nearer the entry already is, so that none overflows and recent
results weigh most.
"""

import numpy as np

from knightadder.native.jit import inlined, kernel

from ..board.attacks import attacked_by, set_check_squares
from ..board.bitboard import ONE, bit_at
from ..board.moves import NO_MOVE, is_noisy
from .forgetting import note_history_row
from .frame import NO_PLY, PIECE_TO
from .transposition import NO_EVAL

LIMIT = 16_384


@inlined
def frame_before(worker, ply, plies):
    """Return the frame some plies before `ply`, or an empty one if that is before the root."""
    return worker.frames[ply - plies if ply >= plies else NO_PLY]


@inlined
def prepare_histories(tables, worker, pos, frame, ply):
    """Set what rates a node's quiet moves, before they are picked.

    These are the squares that the opponent attacks, those that give check, and the rows of the continuation history.
    """
    frame.threats = attacked_by(tables, pos, np.int64(pos.stm) ^ 1)
    set_check_squares(tables, pos, frame.check_squares)
    frame.continuations[0] = frame_before(worker, ply, 1).piece_to * PIECE_TO
    frame.continuations[1] = frame_before(worker, ply, 2).piece_to * PIECE_TO
    frame.continuations[2] = frame_before(worker, ply, 4).piece_to * PIECE_TO


@inlined
def piece_to(pos, move):
    """Return the index of a move's piece and target square: piece * 64 + square."""
    return np.int64(pos.board[move & 63]) * 64 + ((move >> 6) & 63)


@inlined
def _index_by_threats(threats, move):
    return bit_at(threats, move & 63) | (bit_at(threats, (move >> 6) & 63) << ONE)


@inlined
def threat_index(frame, move):
    """Return which squares of a move the opponent attacks: 1 = from, 2 = to, 3 = both, after `prepare_histories`."""
    return _index_by_threats(frame.threats, move)


@inlined
def quiet_history(worker, pos, frame, move):
    """Return how well a quiet move of the side to move has done, between ±4 `LIMIT`, after `prepare_histories`."""
    rows = (frame.continuations[0], frame.continuations[1], frame.continuations[2])
    return history_from(worker, pos, frame.threats, rows, move)


@inlined
def history_from(worker, pos, threats, rows, move):
    """Return `quiet_history` from a frame's `threats` and `continuations`, for those who keep them."""
    index = piece_to(pos, move)
    return (
        np.int64(worker.history[pos.stm, _index_by_threats(threats, move), move & 4095])
        + np.int64(worker.continuation[rows[0] + index])
        + np.int64(worker.continuation[rows[1] + index])
        + np.int64(worker.continuation[rows[2] + index])
    )


@inlined
def _capture_index(pos, move):
    return piece_to(pos, move) * 8 + (np.int64(pos.board[(move >> 6) & 63]) & 7)


@inlined
def capture_history(worker, pos, move):
    """Return how well a capture or promotion has done, between ±`LIMIT`."""
    return np.int64(worker.captures[_capture_index(pos, move)])


@inlined
def apply_gravity(old, bonus, limit):
    """Return a history's entry after a bonus or malus, which counts for less the nearer the entry is to ±`limit`."""
    return np.int64(old) + bonus - np.int64(old) * abs(bonus) // limit


@inlined
def _update_butterfly(worker, pos, frame, move, bonus):
    place = (pos.stm, threat_index(frame, move), move & 4095)
    worker.history[place] = apply_gravity(worker.history[place], bonus, LIMIT)


@kernel
def _update(worker, pos, frame, move, bonus):
    _update_butterfly(worker, pos, frame, move, bonus)
    _update_continuations(worker, pos, frame, move, bonus)


@inlined
def _update_continuations(worker, pos, frame, move, bonus):
    for i in range(3):
        index = np.uint64(frame.continuations[np.uint64(i)] + piece_to(pos, move))
        note_history_row(worker, frame.continuations[i])
        worker.continuation[index] = apply_gravity(worker.continuation[index], bonus, LIMIT)


@kernel
def _update_capture(worker, pos, move, bonus):
    index = _capture_index(pos, move)
    worker.captures[index] = apply_gravity(worker.captures[index], bonus, LIMIT)


@inlined
def _bonus(tuned, depth):
    return min(tuned.bonus_slope * depth - 50, tuned.bonus_max)


@inlined
def _malus(tuned, depth):
    return min(tuned.malus_slope * depth - 150, tuned.malus_max)


@kernel
def update_histories(tables, worker, pos, frame, move, depth, is_quiet, quiets, noisies):
    """Give a bonus to a move that caused a beta cutoff, and a malus to those searched before it.

    These are the first `quiets` of ``frame.quiets``, unchanged if a capture caused the cutoff, and the first `noisies`
    of ``frame.noisies``. Bonus and malus grow with depth up to a limit; the form is Weiss's.
    """
    tuned = tables.parameters
    bonus = _bonus(tuned, depth)
    malus = _malus(tuned, depth)
    if is_quiet:
        if frame.killers[0] != move:
            frame.killers[1] = frame.killers[0]
            frame.killers[0] = move
        _update(worker, pos, frame, move, bonus)
        for i in range(quiets):
            _update(worker, pos, frame, np.int64(frame.quiets[i]), -malus)
    else:
        _update_capture(worker, pos, move, bonus)
    for i in range(noisies):
        _update_capture(worker, pos, np.int64(frame.noisies[i]), -malus)


@kernel
def update_post_lmr(tables, worker, pos, frame, move, depth, is_good):
    """Update the continuation history of a quiet move whose second search, `depth` plies deep, lay outside the window.

    `is_good` says on which side. The idea is Stockfish's.
    """
    tuned = tables.parameters
    _update_continuations(worker, pos, frame, move, _bonus(tuned, depth) if is_good else -_malus(tuned, depth))


@kernel
def update_prior_move(tables, worker, pos, frame, depth):
    """Give a bonus to the move of a frame, if it was quiet, because no reply to it raised alpha.

    The bonus is half of that for a cutoff; `pos` is the position before the move.
    """
    move = frame.move
    if move != NO_MOVE and not is_noisy(pos, move):
        _update(worker, pos, frame, move, _bonus(tables.parameters, depth) // 2)


@inlined
def update_by_eval(tables, worker, ply):
    """Update the butterfly history by how the last move, if it was quiet, changed the static evaluation.

    This rates a move before its search has a result. It does nothing if a check left no evaluation before or after. The
    idea is Stockfish's.
    """
    tuned = tables.parameters
    pos, frame = worker.stack[ply - 1], worker.frames[ply - 1]
    move = frame.move
    before, after = frame.static_eval, -worker.frames[ply].static_eval
    if move != NO_MOVE and before != NO_EVAL and after != -NO_EVAL and not is_noisy(pos, move):
        bonus = tuned.eval_bonus_slope * (after - before)
        _update_butterfly(worker, pos, frame, move, max(-tuned.eval_bonus_max, min(tuned.eval_bonus_max, bonus)))


@inlined
def clear_killers(worker, ply):
    """Clear a ply's killers: they serve only nodes with the same grandparent, whose positions are similar."""
    frame = worker.frames[ply]
    frame.killers[0] = 0
    frame.killers[1] = 0
