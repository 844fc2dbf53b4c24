"""Networks with random weights."""

from __future__ import annotations

import numpy as np

from knightadder.core.evaluation.network_file import Network


def random_network(
    width: int = 16, buckets: int = 1, mirrored: bool = True, seed: int = 1, king_buckets: int = 1
) -> Network:
    """Make a network whose activations are neither all zero nor all clipped."""
    chance = np.random.default_rng(seed)

    def weights(most: int, *shape: int) -> np.ndarray:
        return chance.integers(-most, most + 1, shape).astype(np.int16)

    first = weights(60, king_buckets * 768, width)
    parts = first, weights(90, width), weights(60, buckets, 2, width), weights(9000, buckets)
    return Network(*parts, mirrored, scale=300, description="of chance, für Tests")


def parts_of(network: Network) -> list[list]:
    """Give the weights of a network in a form that can be compared."""
    return [part.tolist() for part in network.parts()]
