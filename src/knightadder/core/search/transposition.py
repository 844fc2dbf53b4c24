"""The transposition table: results of earlier searches by position key, shared by all threads without locks.

An entry has two 64-bit words: the data, and the exclusive or of key and data. If two threads write an entry at the same
time, its words may come from different writes. Then the test of the key fails (the lockless scheme of Hyatt and Mann).
Four entries make a bucket of 64 bytes, one cache line. The high bits of the key choose the bucket, by a multiplication
instead of a division.

The fields of the data word are, from the low bits: move 16 bits, score 16, depth 8, generation 6, bound 2, PV flag 1.
"""

import numpy as np

from knightadder.native.jit import inlined, load64, multiply_high, prefetch, store64

from ..layout import MAX_PLY

BUCKET_BYTES = 64
ENTRIES = 4
GENERATIONS = 64
GENERATION_SHIFT = 40  # lowest bit of the generation in the data word

UPPER, LOWER, EXACT = np.int64(1), np.int64(2), np.int64(3)

MATE = np.int64(32_000)  # mated at ply p scores p - MATE
INFINITE = np.int64(32_001)
NO_EVAL = -32_767  # below any evaluation
MATE_FOUND = MATE - MAX_PLY  # lowest score of a mate
TABLEBASE_WIN = MATE_FOUND - 1  # a tablebase win at ply p scores TABLEBASE_WIN - p
DECISIVE = TABLEBASE_WIN - MAX_PLY  # lowest score of a tablebase win or a mate

_ENTRY_BYTES = np.uint64(16)
_MAX_DEPTH = np.int64(255)  # maximum depth that an entry can hold
_WORD = np.uint64(8)
_BUCKET_SHIFT = np.uint64(6)


@inlined
def _bucket(worker, key):
    return worker.tt_address + (multiply_high(key, worker.tt_buckets) << _BUCKET_SHIFT)


@inlined
def prefetch_entry(worker, key):
    """Prefetch the bucket of a position into the cache, ahead of `probe`."""
    prefetch(_bucket(worker, key))


@inlined
def probe(worker, key):
    """Return the data word of a position as int64, or 0 if the table has no entry for the position."""
    address = _bucket(worker, key)
    for _ in range(ENTRIES):
        data = load64(address + _WORD)
        if load64(address) ^ data == key:
            return np.int64(data)
        address += _ENTRY_BYTES
    return np.int64(0)


@inlined
def entry_move(data):
    """Return the best move of an entry, or 0 if it has none."""
    return data & 65_535


@inlined
def entry_score(data, ply):
    """Return an entry's score as seen from the root: `ply` is added to the distance of a win. A mate stays a mate."""
    score = ((data >> 16) & 65_535) - 32_768
    if score >= DECISIVE:
        return max(score - ply, MATE_FOUND if score >= MATE_FOUND else DECISIVE)
    if score <= -DECISIVE:
        return min(score + ply, -MATE_FOUND if score <= -MATE_FOUND else -DECISIVE)
    return score


@inlined
def entry_depth(data):
    """Return the search depth of an entry, in plies."""
    return (data >> 32) & 255


@inlined
def entry_bound(data):
    """Return the bound of an entry: `EXACT`, `LOWER` or `UPPER`."""
    return (data >> 46) & 3


@inlined
def entry_was_pv(data):
    """Return 1 if the position of an entry has been a PV node since its first result was stored; else 0."""
    return (data >> 48) & 1


@inlined
def entry_cuts_off(data, ply, alpha, beta):
    """Return whether the score of an entry decides the node, see `cuts_off`."""
    return cuts_off(entry_score(data, ply), entry_bound(data), alpha, beta)


@inlined
def cuts_off(score, bound, alpha, beta):
    """Return whether a score decides the node: it is exact, or a bound outside the window."""
    return bound == EXACT or (bound == LOWER and score >= beta) or (bound == UPPER and score <= alpha)


@inlined
def refined_eval(data, ply, eval):
    """Return the score of an entry if its bound shows that it is nearer the truth than `eval`, else `eval`. Scores of
    mates and tablebase wins are not used, because their lines must be searched.
    """
    score, bound = entry_score(data, ply), entry_bound(data)
    if abs(score) >= DECISIVE:
        return eval
    better = bound == EXACT or (bound == LOWER and score > eval) or (bound == UPPER and score < eval)
    return score if better else eval


@inlined
def entry_generation(data):
    """Return the number, modulo `GENERATIONS`, of the search that wrote an entry."""
    return (data >> GENERATION_SHIFT) & (GENERATIONS - 1)


@inlined
def _write(address, key, data):
    store64(address, key ^ data)
    store64(address + _WORD, data)


@inlined
def store(worker, key, move, score, depth, bound, ply, was_pv):
    """Store a result in the entry of its position, or else over the least useful entry of the bucket.

    The usefulness of an entry is its depth, minus eight plies for each search started since it was written. An entry of
    the same position is kept if this search wrote it, it is much deeper, and the new result is not exact. Then only the
    new move is stored in it (Stockfish's rule). A result without a move keeps the known move.
    """
    if score >= DECISIVE:
        score += ply
    elif score <= -DECISIVE:
        score -= ply
    address = _bucket(worker, key)
    place = address
    least = 1 << 30
    for _ in range(ENTRIES):
        data = load64(address + _WORD)
        old = np.int64(data)
        age = (worker.tt_generation - entry_generation(old)) & (GENERATIONS - 1)
        if load64(address) ^ data == key:
            if move == 0:
                move = entry_move(old)
            if bound != EXACT and age == 0 and depth + 4 < entry_depth(old):
                _write(address, key, np.uint64(old ^ entry_move(old) ^ move))
                return
            place = address
            break
        worth = entry_depth(old) - 8 * age if old else -(1 << 20)
        if worth < least:
            least, place = worth, address
        address += _ENTRY_BYTES
    depth = min(depth, _MAX_DEPTH)
    data = move | ((score + 32_768) << 16) | (depth << 32) | (worker.tt_generation << GENERATION_SHIFT) | (bound << 46)
    data |= was_pv << 48
    _write(place, key, np.uint64(data))
