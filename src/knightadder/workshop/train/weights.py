"""The weights of a network in training: floating-point numbers in one flat array, with views of its parts."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knightadder.core.evaluation.network_file import QA, QB, Network, Parts, king_views, part_shapes, split_parts

Flat: TypeAlias = NDArray[np.float32]

#: Maximum absolute value of all weights. With it, QB times an output weight fits into 8 bits, and the product with a
#: clipped sum fits into 16 bits. bullet and other trainers use the same limit.
LIMIT = 1.98

# Spread of the random weights. It is so small that sums of thirty features are between 0 and 1 at first.
_FEATURE_SPREAD, _FIRST_BIAS = 0.05, 0.1


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of a network: N, the width of its hidden layer, and its numbers of output buckets and king buckets.
    In a mirrored network, the files are reversed while the side's king is on files e to h.
    """

    width: int
    buckets: int
    mirrored: bool
    king_buckets: int = 1

    @classmethod
    def of(cls, network: Network) -> Shape:
        """Return the shape of a network."""
        return cls(network.width, network.buckets, network.mirrored, network.king_buckets)

    @property
    def size(self) -> int:
        """Number of all weights and biases."""
        return sum(map(prod, part_shapes(self.width, self.buckets, self.king_buckets)))

    @property
    def views(self) -> NDArray[np.int64]:
        """The view of a side for each square of its king: see `king_views`."""
        return king_views(self.mirrored, self.king_buckets)

    def parts(self, flat: NDArray[Any]) -> Parts:
        """Return views of a flat array: feature weights and biases, output weights and biases, shaped as in Network."""
        return split_parts(flat, self.width, self.buckets, self.king_buckets)


def initial_weights(shape: Shape, seed: int) -> Flat:
    """Return random starting weights."""
    chance = np.random.default_rng(seed)
    flat = np.zeros(shape.size, np.float32)
    feature_weights, feature_biases, output_weights, _ = shape.parts(flat)
    feature_weights[:] = chance.normal(0, _FEATURE_SPREAD, feature_weights.shape)
    feature_biases[:] = _FIRST_BIAS
    spread = min(shape.width**-0.5, LIMIT / 4)
    output_weights[:] = chance.normal(0, spread, output_weights.shape)
    return np.clip(flat, -LIMIT, LIMIT)


def enlarge(flat: Flat, shape: Shape, larger: Shape, seed: int) -> Flat:
    """Return the weights of a network with more neurons or king buckets that gives the same values.
    The first neurons have the given weights, in each king bucket. The new neurons have random feature weights and zero
    output weights.
    """
    enlarged = initial_weights(larger, seed)
    old, new = shape.parts(flat), larger.parts(enlarged)
    new[0][:, : shape.width] = np.tile(old[0], (larger.king_buckets // shape.king_buckets, 1))
    new[2][:] = 0
    for part, other in zip(old[1:], new[1:], strict=True):
        other[..., : part.shape[-1]] = part
    return enlarged


def quantise(flat: Flat, shape: Shape, scale: int, description: str) -> Network:
    """Return the network with rounded weights, clipped to `LIMIT`, and a description; ValueError if it is unusable."""
    units = (QA, QA, QB, QA * QB)
    first, second, third, fourth = (
        np.rint(np.clip(part, -LIMIT, LIMIT).astype(np.float64) * unit).astype(np.int16)
        for part, unit in zip(shape.parts(flat), units, strict=True)
    )
    return Network(first, second, third, fourth, shape.mirrored, scale, description)


def dequantise(network: Network) -> Flat:
    """Return the weights of a network as floating-point numbers."""
    units = (QA, QA, QB, QA * QB)
    parts = [part.ravel() / unit for part, unit in zip(network.parts(), units, strict=True)]
    return np.concatenate(parts).astype(np.float32)
