"""Texel's method: finds the values of the evaluation's terms that best predict the results of games.

The expected result of a position is a logistic function of its evaluation. The evaluation is a linear function of the
values of the terms; `core/api/tracing.py` records its coefficients. So the gradient of the error is exact and cheap;
the optimizer is Adam (Kingma and Ba, 2015).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.sparse import csr_matrix

from knightadder.core.api.tracing import Tracer
from knightadder.core.board.packed import PACKED
from knightadder.core.evaluation.terms import SIZES, START, TERM_VALUES

Values = NDArray[np.float64]  # shape (TERM_VALUES, 2): middle game and end game, in centipawns

BLOCK = 16_384  # maximum number of positions per step

# For each piece type, pawn to queen, the terms to which each piece adds exactly one value. The method cannot
# distinguish a constant in such a term from the value of the piece. Kings have no piece value, and a constant for
# kings cancels out, because both sides have a king.
_ONCE_A_PIECE = (
    ("pawn_square",),
    ("knight_square", "knight_mobility", "knight_king_distance"),
    ("bishop_square", "bishop_mobility", "bishop_king_distance"),
    ("rook_square", "rook_mobility"),
    ("queen_square", "queen_mobility"),
)
_ONCE_A_KING = ("king_square", "king_danger", "king_pawn_distance")

# Adam's usual constants.
_BETA_1, _BETA_2, _EPSILON = 0.9, 0.999, 1e-8


def sigmoid(values: NDArray[Any], scale: float) -> NDArray[Any]:
    """Return the expected results, from 0 to 1, of values in centipawns; `scale` is Texel's K."""
    result: NDArray[Any] = 1 / (1 + np.exp(-scale * values))
    return result


@dataclass(frozen=True, slots=True)
class TracedPositions:
    """Traced positions. Results (0, 0.5 or 1) and scores of the search, in centipawns, are from White's view."""

    counts: csr_matrix  # a row for each position: how often each value counts for White, minus for Black
    weights: NDArray[np.float32]  # weights of the middle-game and end-game values; shape (positions, 2)
    results: NDArray[np.float32]
    scores: NDArray[np.float32]

    def values(self, values: Values) -> NDArray[Any]:
        """Return the evaluations of the positions, in centipawns from White's view."""
        result: NDArray[Any] = ((self.counts @ values) * self.weights).sum(axis=1)
        return result

    def targets(self, scale: float, share: float) -> NDArray[Any]:
        """Return the targets: `share` times the result plus ``1 - share`` times the result expected from the score."""
        result: NDArray[Any] = share * self.results + (1 - share) * sigmoid(self.scores, scale)
        return result


def trace_blocks(tracer: Tracer, records: NDArray[np.void]) -> Iterator[TracedPositions]:
    """Yield traced blocks of packed positions; ValueError if a record is not a legal position.
    The blocks are about equally large, because a step with a few positions would be as long as any other, but random.
    """
    for block in np.array_split(records, -(-len(records) // BLOCK)):
        part = np.ascontiguousarray(block, PACKED)
        places, counts, ends, weights = tracer.trace(part)
        yield TracedPositions(
            csr_matrix((counts, places, ends), shape=(len(part), TERM_VALUES)),
            weights,
            part["result"].astype(np.float32) / np.float32(2),
            part["score"].astype(np.float32),
        )


def fit_scale(blocks: Sequence[TracedPositions], values: Values) -> float:
    """Return the K for which these values best predict the results."""
    found = [(block.values(values), block.results) for block in blocks]

    def error(scale: float) -> float:
        return sum(float(((sigmoid(value, scale) - result) ** 2).sum()) for value, result in found)

    return float(minimize_scalar(error, bounds=(1e-4, 0.05), method="bounded").x)


def mean_error(blocks: Sequence[TracedPositions], values: Values, scale: float, share: float) -> float:
    """Return the mean squared error of the predictions."""
    total, positions = 0.0, 0
    for block in blocks:
        errors = sigmoid(block.values(values), scale) - block.targets(scale, share)
        total += float((errors**2).sum())
        positions += len(errors)
    return total / positions


def gradient(block: TracedPositions, values: Values, scale: float, share: float) -> tuple[Values, float]:
    """Return the gradient of a block's mean squared error with respect to the values, and the error."""
    expected = sigmoid(block.values(values), scale)
    errors = expected - block.targets(scale, share)
    slopes = 2 * scale * errors * expected * (1 - expected) / len(errors)
    return block.counts.T @ (slopes[:, None] * block.weights), float((errors**2).mean())


def settle(blocks: Sequence[TracedPositions], values: Values) -> Values:
    """Return the values, after moving the mean of each piece-square table into the value of the piece.

    The same is done for mobility and similar terms. The evaluations of positions do not change. In a mean, a value's
    weight is the number of times that it counts in the blocks.
    """
    frequency = sum(np.asarray(abs(block.counts).sum(axis=0)).ravel() for block in blocks)
    settled = values.copy()

    def centre(name: str) -> NDArray[Any]:
        row = slice(START[name], START[name] + SIZES[name])
        counting = np.asarray(frequency)[row]
        if not counting.any():
            return np.zeros(2)
        mean: NDArray[Any] = np.average(values[row], axis=0, weights=counting)
        settled[row][counting > 0] -= mean
        return mean

    for number, names in enumerate(_ONCE_A_PIECE):
        settled[START["piece_value"] + number] += sum(centre(name) for name in names)
    for name in _ONCE_A_KING:
        centre(name)
    return settled


class Adam:
    """Adam: gradient descent in which values with a steadier gradient take larger steps.
    `mean` and `square` are the decaying means of the gradient and of its square after `steps` steps.
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.mean, self.square = np.zeros(shape), np.zeros(shape)
        self.steps = 0

    def step(self, slope: Values, rate: float) -> Values:
        """Return the change of the values; `rate` is approximately the largest step, in centipawns."""
        self.steps += 1
        self.mean += (1 - _BETA_1) * (slope - self.mean)
        self.square += (1 - _BETA_2) * (slope**2 - self.square)
        mean = self.mean / (1 - _BETA_1**self.steps)
        square = self.square / (1 - _BETA_2**self.steps)
        result: Values = -rate * mean / (np.sqrt(square) + _EPSILON)
        return result
