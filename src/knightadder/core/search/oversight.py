"""Weaker play that resembles a person's: moves that a player overlooks, and positions that it misjudges.

A weakened search skips some moves of both sides, as if the player had not thought of them. So the player walks into
unseen replies, and misses its own chances: long combinations more often than short ones, since each of their moves must
be seen. Errors depend on how well the refutation is hidden (Anderson, Kleinberg and Mullainathan, *Assessing Human
Error Against a Benchmark of Perfection*, KDD 2016). The weights are our own choice.

Chance is a hash of the position and a seed, so that a search overlooks the same moves wherever it meets the position.
"""

import numpy as np

from knightadder.native.jit import inlined, kernel

from ..board.bitboard import ZERO, bit
from ..board.moves import EN_PASSANT, NO_MOVE, is_noisy, is_promotion, kind_of, same_target, source_of, target_of
from ..layout import BISHOP, BLACK, KING, PAWN, QUEEN
from ..split_mix import split_mix

_PLAIN = np.int64(16)  # weight of a quiet move that is neither long nor a retreat

# Factor of the weight for captures, in 16ths, by type of victim: nobody overlooks a hanging queen for long.
_SEEN_VICTIM = (0, 12, 8, 8, 6, 4, 0, 0)

_LONG = 4  # squares; a move of at least this length is easily overlooked
_LONG_LINE, _LONG_DIAGONAL, _RETREAT, _OPENED = np.int64(8), np.int64(16), np.int64(12), np.int64(16)


@inlined
def _weight(tables, pos, move, last_move):
    """Return how easily a move is overlooked, in 16ths of the weight of a plain quiet move."""
    source, target = source_of(move), target_of(move)
    kind = pos.board[source] & 7
    files, ranks = abs((source & 7) - (target & 7)), (target >> 3) - (source >> 3)
    weight = _PLAIN
    if kind >= BISHOP and kind <= QUEEN and max(files, abs(ranks)) >= _LONG:
        weight += _LONG_DIAGONAL if files == abs(ranks) else _LONG_LINE
    if kind != PAWN and kind != KING and (ranks > 0 if pos.stm == BLACK else ranks < 0):
        weight += _RETREAT
    if last_move != NO_MOVE and tables.between[source, target] & bit(source_of(last_move)) != ZERO:
        weight += _OPENED  # the last move opened this line
    if is_promotion(move):
        return weight >> 1
    if not is_noisy(pos, move):
        return weight
    victim = PAWN if kind_of(move) == EN_PASSANT else np.int64(pos.board[target]) & 7
    return (weight * np.int64(_SEEN_VICTIM[victim])) >> 4


@kernel
def overlooks(tables, worker, pos, move, last_move):
    """Return whether the player overlooks a legal move. It never overlooks the capture of the piece that has just
    moved. `last_move` led to `pos`, or is `NO_MOVE`.
    """
    if last_move != NO_MOVE and same_target(move, last_move):
        return False
    chance = np.int64(split_mix(worker.weak_seed ^ pos.key, np.uint64(move)) >> np.uint64(54))
    return chance < (worker.oversight * _weight(tables, pos, move, last_move)) >> 4


@inlined
def misjudged(worker, pos, eval):
    """Return an evaluation with the player's error, at most ``worker.misjudgement`` and usually less."""
    chance = split_mix(worker.weak_seed, pos.key)
    # Two random numbers from 0 to 1,023 have a mean sum of 1,023, so the mean error is 0.
    error = np.int64(chance >> np.uint64(54)) + np.int64((chance >> np.uint64(44)) & np.uint64(1023)) - 1023
    return eval + ((error * worker.misjudgement) >> 10)
