"""Texel's method: the values of the evaluation's terms that predict the results of games best.

The expected result of a position is a logistic function of its value. Of the values of the terms the position's value
is a linear function, as `core/entries/tracing.py` notes it, so that the gradient of the error is exact and cheap; Adam
follows it (Kingma and Ba, 2015).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.sparse import csr_matrix

from knightadder.core.board.packed import PACKED
from knightadder.core.entries.tracing import Tracer
from knightadder.core.evaluation.terms import SIZES, START, TERM_VALUES

Values = NDArray[np.float64]  # shape (TERM_VALUES, 2): middle game and end game, in centipawns

BLOCK = 16_384  # positions of a step

# Terms of which exactly one value counts for each piece of a kind, pawn to queen: the method cannot tell what they have
# in common from the worth of the piece. The king has none, and what both kings have in common cancels out.
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
class Block:
    """Positions, traced.

    Attributes
    ----------
    counts : csr_matrix
        A row for each position: White's counts of the terms' values less Black's.
    weights : array of shape (positions, 2)
        How much of the middle-game and of the end-game half makes the value.
    results : array
        Of the games, for White: 0, 0.5 or 1.
    scores : array
        What search said, in centipawns from White's view.
    """

    counts: csr_matrix
    weights: NDArray[np.float32]
    results: NDArray[np.float32]
    scores: NDArray[np.float32]

    def values(self, values: Values) -> NDArray[Any]:
        """Return the values of the positions, in centipawns from White's view."""
        result: NDArray[Any] = ((self.counts @ values) * self.weights).sum(axis=1)
        return result

    def targets(self, scale: float, share: float) -> NDArray[Any]:
        """Return what is to be predicted: the result, and for the rest of `share` what search expected."""
        result: NDArray[Any] = share * self.results + (1 - share) * sigmoid(self.scores, scale)
        return result


def trace_blocks(tracer: Tracer, records: NDArray[np.void]) -> Iterator[Block]:
    """Trace packed positions, block by block.

    Raises
    ------
    ValueError
        If a record is no legal position.
    """
    for first in range(0, len(records), BLOCK):
        part = np.ascontiguousarray(records[first : first + BLOCK], PACKED)
        places, counts, ends, weights = tracer.trace(part)
        yield Block(
            csr_matrix((counts, places, ends), shape=(len(part), TERM_VALUES)),
            weights,
            part["result"].astype(np.float32) / np.float32(2),
            part["score"].astype(np.float32),
        )


def fit_scale(blocks: Sequence[Block], values: Values) -> float:
    """Return the K with which these values predict the results best."""
    found = [(block.values(values), block.results) for block in blocks]

    def error(scale: float) -> float:
        return sum(float(((sigmoid(value, scale) - result) ** 2).sum()) for value, result in found)

    return float(minimize_scalar(error, bounds=(1e-4, 0.05), method="bounded").x)


def mean_error(blocks: Sequence[Block], values: Values, scale: float, share: float) -> float:
    """Return the mean squared error of the predictions."""
    total, positions = 0.0, 0
    for block in blocks:
        errors = sigmoid(block.values(values), scale) - block.targets(scale, share)
        total += float((errors**2).sum())
        positions += len(errors)
    return total / positions


def gradient(block: Block, values: Values, scale: float, share: float) -> tuple[Values, float]:
    """Return the gradient of a block's mean squared error by the values, and that error."""
    expected = sigmoid(block.values(values), scale)
    errors = expected - block.targets(scale, share)
    slopes = 2 * scale * errors * expected * (1 - expected) / len(errors)
    return block.counts.T @ (slopes[:, None] * block.weights), float((errors**2).mean())


def settle(blocks: Sequence[Block], values: Values) -> Values:
    """Return the values with what all squares of a piece have in common moved to the value of the piece.

    Likewise for its mobility and the like. The values of positions stay what they are.

    Parameters
    ----------
    blocks : sequence of Block
        Say how often each value counts: the rows are centred on what is usual.
    values : array
        Of the terms.
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
    """Adam: steps along the gradient, each value's as large as its gradient is steady.

    Parameters
    ----------
    shape : tuple of int
        Of the values.

    Attributes
    ----------
    mean, square : array
        The decaying means of the gradient and of its square.
    steps : int
        Steps taken.
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.mean, self.square = np.zeros(shape), np.zeros(shape)
        self.steps = 0

    def step(self, slope: Values, rate: float) -> Values:
        """Return what to add to the values; `rate` is about the largest step, in centipawns."""
        self.steps += 1
        self.mean += (1 - _BETA_1) * (slope - self.mean)
        self.square += (1 - _BETA_2) * (slope**2 - self.square)
        mean = self.mean / (1 - _BETA_1**self.steps)
        square = self.square / (1 - _BETA_2**self.steps)
        result: Values = -rate * mean / (np.sqrt(square) + _EPSILON)
        return result
