"""The evaluation by a network (768 -> N) x 2 -> 1 whose first layer is updated from ply to ply (NNUE).

Each side sees the board from its own point of view, and a piece on a square is a feature. The accumulator of a side is
the sum of the bias and of the weights of all features. A move changes two to four features, so the accumulators after a
move are those before it plus a few rows of weights. They are updated only when a position is evaluated, starting from
the last position of the line whose accumulators are known. `network_file` describes the numbers and the formula.
"""

import itertools

import numpy as np

from knightadder.native.jit import disjoint, inlined, kernel, lsb, popcount, record_at
from knightadder.native.records import record

from ..board.attacks import king_square
from ..board.bitboard import bit, without_lsb
from ..board.movegen import castling_king_target, castling_rook_target
from ..board.moves import CASTLING, EN_PASSANT, NO_MOVE, is_promotion, kind_of, source_of, target_of
from ..layout import KING, MAX_MEN_ON_BOARD, PAWN, ROOK
from .network_file import KING_BUCKETS, QA, QB, bucket_of, king_views

HIDDEN = 512  # neurons of the hidden layer for each side
PLACES = 16 * 64  # number of pairs of a piece and a square
MAX_BUCKETS = 8  # maximum number of output layers, which are chosen by the number of men

ACCUMULATOR = record(  # outputs of the first layer; the size is a multiple of a cache line
    ("sums", np.int16, (2, HIDDEN)),  # by side, from whose point of view they are
    ("views", np.int64, 2),  # by side: the entry of `king_views`
    ("key", np.uint64),  # key of the position XOR key of the network
    ("padding", np.uint64, 5),
)

KEPT_ACCUMULATOR = record(  # an accumulator that was computed from all pieces, and is changed for the next position
    ("sums", np.int16, HIDDEN),
    ("pieces", np.uint64, 16),  # bitboards by piece
    ("key", np.uint64),  # key of the network
    ("padding", np.uint64, 7),
)
VIEWS = 2 * KING_BUCKETS[-1]  # number of different views of a side

NETWORK_WEIGHTS = record(  # read-only, shared by all threads
    ("feature_weights", np.int16, (KING_BUCKETS[-1] * PLACES, HIDDEN)),  # comes first, to be aligned
    ("feature_biases", np.int16, HIDDEN),
    ("output_weights", np.int16, (MAX_BUCKETS, 2, HIDDEN)),
    ("output_biases", np.int64, MAX_BUCKETS),
    ("output_bucket", np.int64, MAX_MEN_ON_BOARD + 1),  # index of the output layer, by number of men
    ("king_views", np.int64, 64),  # White's `_view`, by the square of its king
    ("scale", np.int64),  # centipawns for an output of 1
    ("key", np.uint64),  # number of the network in this process
)

_keys = itertools.count(1)  # numbers for the networks that the process uses


@inlined
def _row(weights, piece, square, view):
    """Return the row of weights of a piece on a square, from the point of view of a side. In a view, the lowest bits
    flip the square and the colour as the side sees them, and the bits above are the number of the king bucket.
    """
    return weights.feature_weights[(piece * 64 + square) ^ view]


@inlined
def _view(weights, pos, side):
    """Return a side's view, which depends on the square of its king: 7 if the side sees the files reversed, plus 8 * 64
    + 56 for Black, who sees ranks and colours reversed, plus `PLACES` times the king bucket.
    """
    return weights.king_views[king_square(pos, side) ^ (56 * side)] ^ ((8 * 64 + 56) * side)


@kernel
def _refresh(weights, worker, pos, sums, side, view):
    """Compute an accumulator for a new view from the last accumulator that was computed so for the same view, and the
    pieces that differ (the Chess Programming Wiki calls these accumulators Finny tables).
    """
    kept = worker.kept_accumulators[side * VIEWS + 2 * (view // PLACES) + (view & 1)]
    if kept.key != weights.key:
        kept.key = weights.key
        for piece in range(16):
            kept.pieces[piece] = 0
        for i in range(HIDDEN):
            kept.sums[i] = weights.feature_biases[i]
    for color in range(2):
        for kind in range(PAWN, KING + 1):
            piece = (color << 3) | kind
            pieces = pos.by_type[kind] & pos.by_color[color]
            different = pieces ^ kept.pieces[piece]
            kept.pieces[piece] = pieces
            while different:
                square = lsb(different)
                row = _row(weights, piece, square, view)
                if pieces & bit(square):
                    for i in range(HIDDEN):
                        kept.sums[i] += row[i]
                else:
                    for i in range(HIDDEN):
                        kept.sums[i] -= row[i]
                different = without_lsb(different)
    for i in range(HIDDEN):
        sums[i] = kept.sums[i]


@disjoint
@kernel
def _advance(weights, before, move, old, new, view):
    """Compute the accumulator after a move from the accumulator before it."""
    if move == NO_MOVE:
        for i in range(HIDDEN):
            new[i] = old[i]
        return
    source, target, kind = source_of(move), target_of(move), kind_of(move)
    us = np.int64(before.stm)
    piece = np.int64(before.board[source])
    if kind == CASTLING:
        rook = ROOK | (us << 3)
        king_target, rook_target = castling_king_target(us, source, target), castling_rook_target(us, source, target)
        king_from, king_to = _row(weights, piece, source, view), _row(weights, piece, king_target, view)
        rook_from, rook_to = _row(weights, rook, target, view), _row(weights, rook, rook_target, view)
        for i in range(HIDDEN):
            new[i] = old[i] - king_from[i] + king_to[i] - rook_from[i] + rook_to[i]
        return
    placed = kind | (us << 3) if is_promotion(move) else piece
    left, reached = _row(weights, piece, source, view), _row(weights, placed, target, view)
    victim = np.int64(before.board[target])
    if kind == EN_PASSANT:
        victim, target = PAWN | ((us ^ 1) << 3), target ^ 8
    if victim == 0:
        for i in range(HIDDEN):
            new[i] = old[i] - left[i] + reached[i]
        return
    taken = _row(weights, victim, target, view)
    for i in range(HIDDEN):
        new[i] = old[i] - left[i] + reached[i] - taken[i]


@inlined
def _is_current(weights, worker, pos, ply):
    return worker.accumulators[ply].key == pos.key ^ weights.key


@kernel
def accumulate(weights, worker, pos, ply):
    """Update the accumulators of a ply. At ply 0 `pos` may be any position. At other plies it must be the position on
    the worker's stack, and the worker's frames must hold the moves that led to it.
    """
    known = ply
    if not _is_current(weights, worker, pos, ply):
        known -= 1
        while known >= 0 and not _is_current(weights, worker, worker.stack[known], known):
            known -= 1
    if known < 0:
        current = worker.accumulators[ply]
        for side in range(2):
            current.views[side] = _view(weights, pos, side)
            _refresh(weights, worker, pos, current.sums[side], side, current.views[side])
        current.key = pos.key ^ weights.key
        return
    while known < ply:
        before, old = worker.stack[known], worker.accumulators[known]
        move = worker.frames[known].move
        known += 1
        after, new = worker.stack[known], worker.accumulators[known]
        for side in range(2):
            view = _view(weights, after, side)
            if view == old.views[side]:
                _advance(weights, before, move, old.sums[side], new.sums[side], view)
            else:
                _refresh(weights, worker, after, new.sums[side], side, view)
            new.views[side] = view
        new.key = after.key ^ weights.key


@inlined
def _output(sums, weights):
    """Return the weighted sum of a side's neurons. Their activation is the square of the clipped accumulator."""
    total = np.int32(0)
    for i in range(HIDDEN):
        clipped = min(max(sums[i], np.int16(0)), np.int16(QA))
        weighted = np.int16(clipped * weights[i])
        total = np.int32(total + np.int32(weighted) * np.int32(clipped))
    return np.int64(total)


@kernel
def evaluate(tables, worker, pos, ply):
    """Return the value of a position in centipawns, from the side to move's view; see `accumulate`."""
    weights = record_at(tables.network_address, NETWORK_WEIGHTS)
    accumulate(weights, worker, pos, ply)
    sums = worker.accumulators[ply].sums
    us = pos.stm
    bucket = weights.output_bucket[popcount(pos.by_type[0])]
    output_weights = weights.output_weights[bucket]
    total = _output(sums[us], output_weights[0]) + _output(sums[us ^ 1], output_weights[1])
    return (total // QA + weights.output_biases[bucket]) * weights.scale // (QA * QB)


def weights_of(tables):
    """Return the NETWORK_WEIGHTS record of a TABLES record, for use in Python."""
    return record_at(tables.network_address, NETWORK_WEIGHTS)


def check_size(width, buckets):
    """Raise a ValueError if a network has more hidden neurons or output buckets than the core supports."""
    if width > HIDDEN or buckets > MAX_BUCKETS:
        raise ValueError(
            f"the network must have at most {HIDDEN} neurons and {MAX_BUCKETS} buckets, not {width} and {buckets}"
        )


def fill_tables(tables, network):
    """Copy a network into the memory that a TABLES record refers to, or raise the errors of `check_size`. If the
    network has fewer than `HIDDEN` neurons, the remaining neurons have no effect.
    """
    width, buckets = network.width, network.buckets
    check_size(width, buckets)
    weights = weights_of(tables)
    for part in (weights.feature_weights, weights.feature_biases, weights.output_weights, weights.output_biases):
        part[...] = 0
    # A row is for a piece as numbered in `layout`. So the rows for two of the eight types are not used.
    rows = weights.feature_weights.reshape(-1, 2, 8, 64, HIDDEN)
    rows[: network.king_buckets, :, PAWN : KING + 1, :, :width] = network.feature_weights.reshape(-1, 2, 6, 64, width)
    weights.feature_biases[:width] = network.feature_biases
    weights.output_weights[:buckets, :, :width] = network.output_weights
    weights.output_biases[:buckets] = network.output_biases
    for men in range(2, MAX_MEN_ON_BOARD + 1):
        weights.output_bucket[men] = bucket_of(men, buckets)
    views = king_views(network.mirrored, network.king_buckets)
    weights.king_views[:] = (views >> 3) * PLACES + (views & 7)
    weights.scale = network.scale
    weights.key = next(_keys)
