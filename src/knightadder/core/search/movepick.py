"""The staged move picker: it generates and orders moves only when the search gets to them.

The order outside check is:

1. the hash move;
2. captures and promotions that lose no material by static exchange evaluation, ordered by most valuable victim, least
   valuable attacker and capture history;
3. killer moves;
4. quiet moves by history, with a bonus for moves that give check;
5. the losing captures.

In check, the hash move comes first, too. Then all evasions are generated at once: first captures and promotions, even
losing ones, then quiet moves by history.
"""

import numpy as np

from knightadder.native.jit import inlined, kernel

from ..board.attacks import gives_direct_check
from ..board.bitboard import ZERO
from ..board.movegen import ALL, NOISY, QUIET, generate, is_legal
from ..board.moves import NO_MOVE, is_noisy, kind_of, moved_type
from ..layout import QUEEN
from .history import capture_history, history_from, prefetch_continuations, quiet_history
from .see import QUEEN_VALUE, captured_value, piece_value, see_at_least

(
    HASH_MOVE,
    NOISY_INIT,
    GOOD_NOISY,
    KILLER_1,
    KILLER_2,
    QUIET_INIT,
    QUIETS,
    BAD_NOISY,
    EVASION_INIT,
    EVASIONS,
    DONE,
) = range(11)

_VECTOR = 8  # number of scores that `_pick_best` reads at a time
_LOWEST = -(1 << 31)
_PLACE = 255  # mask of the bits of a score that hold the index of its move in the list
_CHECK = 8192  # bonus that puts quiet moves giving check before most others, as in Stockfish
_NOISY_FIRST = 1 << 20  # bonus that puts captures and promotions before quiet evasions, whatever their history


@inlined
def start_picking(frame, hash_move, with_quiets):
    """Prepare a frame for `next_move`; `hash_move` is legal or 0.

    If `with_quiets` is 0, only captures and promotions that lose no material are picked outside check, as quiescence
    search and ProbCut need. The search sets ``frame.with_quiets`` to 0 when it wants no more quiet moves.
    """
    frame.hash_move = hash_move
    frame.with_quiets = with_quiets
    frame.stage = HASH_MOVE


@inlined
def _noisy_score(worker, pos, move):
    # A promotion to a queen counts as a capture of a queen. Underpromotions come late.
    victim = captured_value(pos, move) + (QUEEN_VALUE if kind_of(move) == QUEEN else 0)
    return victim * 32 - moved_type(pos, move) * 256 + capture_history(worker, pos, move)


@inlined
def _may_lose_material(pos, move):
    """Return whether a capture may lose material: its piece must be worth more than the captured piece."""
    return captured_value(pos, move) < piece_value(moved_type(pos, move))


@inlined
def _set_score(scores, i, score):
    """Store the score of a move together with its index in the list."""
    scores[i] = (score << 8) | i


@inlined
def _end_scores(scores, end):
    """Write the lowest score behind the last move, so that `_pick_best` can read a whole number of vectors."""
    for i in range(_VECTOR):
        scores[end + i] = _LOWEST


@inlined
def _score_noisy(worker, pos, frame, end):
    moves, scores = frame.moves, frame.scores
    for i in range(end):
        _set_score(scores, i, _noisy_score(worker, pos, moves[i]))
    _end_scores(scores, end)


@inlined
def _score_quiets(worker, pos, frame, start, end):
    moves, scores = frame.moves, frame.scores
    # These are read before the loop, because LLVM must assume that writing a score can change them.
    threats, rows = frame.threats, (frame.continuations[0], frame.continuations[1], frame.continuations[2])
    for i in range(start, end):
        move = moves[i]
        check = _CHECK * gives_direct_check(pos, frame.check_squares, move)
        _set_score(scores, i, history_from(worker, pos, threats, rows, move) + check)
    _end_scores(scores, end)


@inlined
def _score_evasions(worker, pos, frame, end):
    moves, scores = frame.moves, frame.scores
    for i in range(end):
        move = moves[i]
        if is_noisy(pos, move):
            _set_score(scores, i, _NOISY_FIRST + _noisy_score(worker, pos, move))
        else:
            _set_score(scores, i, quiet_history(worker, pos, frame, move))
    _end_scores(scores, end)


@kernel
def _pick_best(frame):
    """Remove the best remaining move from the list, by a step of selection sort, and return it. Each score contains the
    index of its move, so a plain maximum, which LLVM vectorises, finds both. The other scores are read up to a multiple
    of `_VECTOR`. A rest would be read one by one, and the processor would often predict its length wrongly.
    """
    moves, scores = frame.moves, frame.scores
    start = frame.index
    best = scores[start]
    others = frame.end - start - 1
    for i in range(start + 1, start + 1 + ((others + _VECTOR - 1) & -_VECTOR)):
        best = max(best, scores[i])
    place = best & _PLACE
    move = moves[place]
    scores[place] = (scores[start] & ~_PLACE) | place
    moves[place] = moves[start]
    moves[start] = move
    frame.index = start + 1
    return move


@inlined
def _is_killer(frame, move):
    return (move == frame.killers[0]) | (move == frame.killers[1])


@inlined
def _is_usable_killer(tables, pos, frame, killer):
    return (
        killer != NO_MOVE and killer != frame.hash_move and not is_noisy(pos, killer) and is_legal(tables, pos, killer)
    )


@kernel
def next_move(tables, worker, pos, frame):
    """Return the next legal move to search, or 0 if none is left; quiet moves need `prepare_histories` before."""
    if frame.stage == HASH_MOVE:
        frame.stage = EVASION_INIT if pos.checkers != ZERO else NOISY_INIT
        if frame.hash_move:
            return frame.hash_move
    if frame.stage == NOISY_INIT:
        frame.index = 0
        frame.bad_end = 0
        frame.end = generate(tables, pos, frame, np.int64(0), NOISY)
        _score_noisy(worker, pos, frame, frame.end)
        frame.stage = GOOD_NOISY
    if frame.stage == GOOD_NOISY:
        while frame.index < frame.end:
            move = _pick_best(frame)
            if move == frame.hash_move:
                continue
            if not _may_lose_material(pos, move) or see_at_least(tables, pos, move, np.int64(0)):
                return move
            frame.moves[frame.bad_end] = move
            frame.bad_end += 1
        frame.stage = KILLER_1 if frame.with_quiets else DONE
    if frame.stage == KILLER_1:
        frame.stage = KILLER_2
        if _is_usable_killer(tables, pos, frame, frame.killers[0]):
            return frame.killers[0]
    if frame.stage == KILLER_2:
        frame.stage = QUIET_INIT
        if _is_usable_killer(tables, pos, frame, frame.killers[1]):
            return frame.killers[1]
    if frame.stage == QUIET_INIT:
        # The losing captures stay in the list, in front of the quiet moves.
        frame.index = frame.bad_end
        frame.end = frame.bad_end
        if frame.with_quiets:
            prefetch_continuations(worker, pos, frame)
            frame.end = generate(tables, pos, frame, frame.bad_end, QUIET)
            _score_quiets(worker, pos, frame, frame.bad_end, frame.end)
        frame.stage = QUIETS
    if frame.stage == QUIETS:
        while frame.with_quiets and frame.index < frame.end:
            move = _pick_best(frame)
            if move != frame.hash_move and not _is_killer(frame, move):
                return move
        frame.index = 0
        frame.stage = BAD_NOISY
    if frame.stage == BAD_NOISY:
        while frame.index < frame.bad_end:
            move = frame.moves[frame.index]
            frame.index += 1
            if move != frame.hash_move:
                return move
    if frame.stage == EVASION_INIT:
        frame.index = 0
        frame.end = generate(tables, pos, frame, np.int64(0), ALL)
        _score_evasions(worker, pos, frame, frame.end)
        frame.stage = EVASIONS
    if frame.stage == EVASIONS:
        while frame.index < frame.end:
            move = _pick_best(frame)
            if move != frame.hash_move:
                return move
    return NO_MOVE
