"""Comparison of a network with the classical evaluation, on positions with search scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from knightadder.core.evaluation.network_file import Network
from knightadder.library.arrays import evaluate_many
from knightadder.workshop.train.integer_model import integer_values

_MOST = 50_000  # maximum number of positions to compare
_NEAR = 600  # maximum absolute score, in centipawns, of the positions; beyond it, differences hardly matter


def compare(network: Network, records: NDArray[np.void]) -> str:
    """Return a line with both evaluations' mean absolute values, which should be similar, and correlations."""
    near = records[abs(records["score"].astype(np.int64)) < _NEAR][:_MOST]
    if len(near) < 2:
        return "there are too few positions to compare"
    near["rule50"] = 0  # the halfmove clock reduces the engine's evaluations, but not the integer model's
    white = np.where(near["stm_ep"] >> 7, -1, 1)
    scores = near["score"] * white
    evaluations: dict[str, NDArray[Any]] = {
        "network": integer_values(network, near),
        "classical": evaluate_many(near, "classical", workers=1) * white,
    }
    return "  ".join(
        f"{name}: mean |value| {abs(values).mean():.0f} centipawns, correlation {_correlation(values, scores):.4f}"
        for name, values in evaluations.items()
    )


def _correlation(values: NDArray[Any], scores: NDArray[Any]) -> float:
    """Return the correlation; 0 if one of the arrays is constant."""
    if values.std() == 0 or scores.std() == 0:
        return 0.0
    return float(np.corrcoef(values, scores)[0, 1])
