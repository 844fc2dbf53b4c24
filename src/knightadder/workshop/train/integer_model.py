"""The integer model: the values that an engine computes from a network's integer weights, in simple NumPy code.
``core/evaluation/network_file.py`` describes these values, which the engine's evaluation must give exactly.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from knightadder.core.evaluation.network_file import INPUTS, QA, QB, Network, bucket_of, king_views
from knightadder.core.layout import MAX_MEN_ON_BOARD

_SQUARES = 64
_KING, _UNMOVED_ROOK, _ROOK = 5, 6, 3  # codes of packed pieces
_BLOCK = 1024  # positions evaluated at a time; their rows of weights take 16 MB for each side at N = 256


def integer_values(network: Network, records: NDArray[np.void]) -> NDArray[np.int64]:
    """Return the values of packed positions in centipawns, from the side to move's view."""
    values = np.empty(len(records), np.int64)
    for first in range(0, len(records), _BLOCK):
        values[first : first + _BLOCK] = _values(network, records[first : first + _BLOCK])
    return values


def _values(network: Network, records: NDArray[np.void]) -> NDArray[np.int64]:
    own, other = features_of(records, network.mirrored, network.king_buckets)
    buckets = bucket_of((own < len(network.feature_weights)).sum(axis=1), network.buckets)
    rows = np.vstack([network.feature_weights, np.zeros((1, network.width), np.int16)])
    total = np.zeros(len(records), np.int32)
    for side, features in enumerate((own, other)):
        sums = network.feature_biases + rows[features].sum(axis=1, dtype=np.int16)
        clipped = np.clip(sums, 0, QA)
        weighted = clipped * network.output_weights[buckets, side]  # in int16
        total += (weighted.astype(np.int32) * clipped).sum(axis=1, dtype=np.int32)
    outputs = total.astype(np.int64) // QA + network.output_biases[buckets]
    result: NDArray[np.int64] = outputs * network.scale // (QA * QB)
    return result


def features_of(
    records: NDArray[np.void], mirrored: bool, king_buckets: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the features of packed positions for the side to move and for the other side: two arrays (positions, 32).
    The features are in the order of the squares. A feature in king bucket b is increased by 768 b. The entries after
    the last piece are the number of all features.
    """
    count = len(records)
    bytes_of = np.ascontiguousarray(records["occupied"]).astype("<u8").view(np.uint8).reshape(count, 8)
    occupied = np.unpackbits(bytes_of, axis=1, bitorder="little")
    position, square = np.nonzero(occupied)
    man = (np.cumsum(occupied, axis=1, dtype=np.int64) - 1)[position, square]
    pieces = records["pieces"].astype(np.int64)
    code = pieces[position, man // 2] >> 4 * (man % 2) & 15
    kind, black = code & 7, code >> 3
    kind[kind == _UNMOVED_ROOK] = _ROOK

    kings = np.zeros((count, 2), np.int64)
    is_king = kind == _KING
    kings[position[is_king], black[is_king]] = square[is_king]
    views = king_views(mirrored, king_buckets)
    black_to_move = (records["stm_ep"] >> 7).astype(np.int64)
    found = []
    for side in (black_to_move, 1 - black_to_move):
        view = views[kings[np.arange(count), side] ^ 56 * side]
        turned = 56 * side ^ view & 7
        features = np.full((count, MAX_MEN_ON_BOARD), king_buckets * INPUTS, np.int64)
        theirs = black ^ side[position]
        feature = INPUTS // 2 * theirs + _SQUARES * kind + (square ^ turned[position])
        features[position, man] = (view[position] >> 3) * INPUTS + feature
        found.append(features)
    return found[0], found[1]
