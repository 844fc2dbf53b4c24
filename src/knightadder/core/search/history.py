"""Move-ordering memory: move histories and killer moves.

- The butterfly history scores quiet moves by side, from-square and to-square, and by which of the two squares the
  opponent attacks. So a move out of an attack has a different score from a move into one.
- The continuation history scores quiet moves by their piece and to-square, together with the piece and to-square of
  the move 1, 2 or 4 plies before.
- The capture history scores captures by piece, to-square and type of the captured piece.

Entries lie within ±`LIMIT`. They are updated by "gravity": the nearer an entry is to the limit, the less a bonus
changes it. So no entry overflows, and recent results count most.
"""

import numpy as np

from knightadder.native.jit import inlined, kernel, prefetch_item

from ..board.attacks import attacked_by, set_check_squares
from ..board.bitboard import ONE, bit_at
from ..board.moves import NO_MOVE, is_noisy, source_of, target_of
from ..layout import KING, PAWN
from .forgetting import note_history_row
from .frame import NO_PLY, PIECE_TO
from .transposition import NO_EVAL

LIMIT = 16_384

_CACHE_LINE = 32  # number of entries in a cache line


@inlined
def frame_before(worker, ply, plies):
    """Return the frame `plies` plies before `ply`, or an empty frame if that ply is before the root."""
    return worker.frames[ply - plies if ply >= plies else NO_PLY]


@inlined
def prepare_histories(tables, worker, pos, frame, ply):
    """Set the fields of a frame that are needed to score its quiet moves; call this before quiet moves are picked."""
    frame.threats = attacked_by(tables, pos, np.int64(pos.stm) ^ 1)
    set_check_squares(tables, pos, frame.check_squares)
    frame.continuations[0] = frame_before(worker, ply, 1).piece_to * PIECE_TO
    frame.continuations[1] = frame_before(worker, ply, 2).piece_to * PIECE_TO
    frame.continuations[2] = frame_before(worker, ply, 4).piece_to * PIECE_TO


@inlined
def prefetch_continuations(worker, pos, frame):
    """Prefetch the continuation histories of all moves of the side to move, after `prepare_histories`."""
    for i in range(3):
        row = frame.continuations[i] + pos.stm * (8 * 64)
        for place in range(PAWN * 64, (KING + 1) * 64, _CACHE_LINE):
            prefetch_item(worker.continuation, np.uint64(row + place))


@inlined
def piece_to(pos, move):
    """Return the index of a move's piece and target square: piece * 64 + square."""
    return np.int64(pos.board[source_of(move)]) * 64 + target_of(move)


@inlined
def threat_index(threats, move):
    """Return which squares of a move the opponent attacks, by a frame's `threats`: 1 = from, 2 = to, 3 = both."""
    return bit_at(threats, source_of(move)) | (bit_at(threats, target_of(move)) << ONE)


@inlined
def quiet_history(worker, pos, frame, move):
    """Return the history score of a quiet move, between ±4 `LIMIT`; see `prepare_histories`."""
    rows = (frame.continuations[0], frame.continuations[1], frame.continuations[2])
    return history_from(worker, pos, frame.threats, rows, move)


@inlined
def history_from(worker, pos, threats, rows, move):
    """Return the `quiet_history` of a move, given copies of the frame's `threats` and `continuations`."""
    index = piece_to(pos, move)
    return (
        np.int64(worker.history[pos.stm, threat_index(threats, move), move & 4095])
        + np.int64(worker.continuation[rows[0] + index])
        + np.int64(worker.continuation[rows[1] + index])
        + np.int64(worker.continuation[rows[2] + index])
    )


@inlined
def _capture_index(pos, move):
    return piece_to(pos, move) * 8 + (np.int64(pos.board[target_of(move)]) & 7)


@inlined
def capture_history(worker, pos, move):
    """Return the history score of a capture or promotion, between ±`LIMIT`."""
    return np.int64(worker.captures[_capture_index(pos, move)])


@inlined
def add_bonus(entries, index, bonus, limit):
    """Add a bonus or malus to a history entry. It is scaled to keep the entry within ±`limit`."""
    old = np.int64(entries[index])
    entries[index] = old + bonus - old * abs(bonus) // limit


@inlined
def _update_butterfly(worker, pos, frame, move, bonus):
    add_bonus(worker.history, (pos.stm, threat_index(frame.threats, move), move & 4095), bonus, LIMIT)


@inlined
def _update_continuations(worker, pos, frame, move, bonus):
    for i in range(3):
        row = frame.continuations[np.uint64(i)]
        note_history_row(worker, row)
        add_bonus(worker.continuation, np.uint64(row + piece_to(pos, move)), bonus, LIMIT)


@kernel
def _update(worker, pos, frame, move, bonus):
    _update_butterfly(worker, pos, frame, move, bonus)
    _update_continuations(worker, pos, frame, move, bonus)


@kernel
def _update_capture(worker, pos, move, bonus):
    add_bonus(worker.captures, _capture_index(pos, move), bonus, LIMIT)


@inlined
def _bonus(tuned, depth):
    return min(tuned.bonus_slope * depth - 50, tuned.bonus_max)


@inlined
def _malus(tuned, depth):
    return min(tuned.malus_slope * depth - 150, tuned.malus_max)


@kernel
def update_histories(tables, worker, pos, frame, move, depth, is_quiet, quiets, noisies):
    """Give a bonus to a move that caused a beta cutoff, and a malus to the moves searched before it.

    The moves searched before it are the first `quiets` moves of ``frame.quiets`` and the first `noisies` moves of
    ``frame.noisies``. Quiet moves get no malus if a capture caused the cutoff. The formulas are Weiss's.
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
    """Update the continuation history of a quiet move after its second search, which was `depth` plies deep. `is_good`
    is 1 if that search failed high, and 0 if it failed low. The idea is Stockfish's.
    """
    tuned = tables.parameters
    _update_continuations(worker, pos, frame, move, _bonus(tuned, depth) if is_good else -_malus(tuned, depth))


@kernel
def update_prior_move(tables, worker, pos, frame, depth):
    """Give half a bonus to the quiet move, played in `pos`, that led to a node in which no reply raised alpha."""
    move = frame.move
    if move != NO_MOVE and not is_noisy(pos, move):
        _update(worker, pos, frame, move, _bonus(tables.parameters, depth) // 2)


@inlined
def update_by_eval(tables, worker, ply):
    """Update the butterfly history of the last move, if it was quiet, by the change of the static evaluation, before
    its search has a result. In check there is no evaluation. The idea is Stockfish's.
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
    """Clear the killers of a ply: they serve only nodes with the same grandparent, whose positions are similar."""
    frame = worker.frames[ply]
    frame.killers[0] = 0
    frame.killers[1] = 0
