"""The trainer: weights, the state of their optimiser, and the threads that work on them."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knightadder.closing import Closing
from knightadder.native.memory import zeroed_bytes
from knightadder.workshop.train.kernels import adamw, pass_over
from knightadder.workshop.train.weights import Flat, Shape

WEIGHT_DECAY = 0.01  # AdamW's usual value
_AVERAGED_STEPS = 16  # steps between updates of the average; more frequent updates would only cost time


def _aligned_zeros(size: int) -> Flat:
    """Return zeros that start at a cache line; vectors that cross cache lines would cost a tenth of the speed."""
    return zeroed_bytes(size * 4).view(np.float32)


class Trainer(Closing):
    """Trains a network by changing its weights.

    Each thread computes the gradient of its part of a batch. With the same number of threads, the parts are the same,
    and the gradients are added up in the same order, so the weights are also the same. `result_share` may be changed
    between steps. `means` and `squares` are AdamW's decaying means of the gradient and of its square.

    With `average`, `averaged` is the mean of the weights over about that many steps, in which older steps count less.
    Before that many steps, it is the plain mean, so the first weights, which may be random, do not count. Without
    `average`, `averaged` are the weights themselves.
    """

    def __init__(
        self,
        shape: Shape,
        weights: Flat,
        threads: int,
        scale: float,
        result_share: float,
        exponent: float = 2.0,
        average: int = 0,
    ) -> None:
        self.shape, self.threads = shape, threads
        self.weights = _aligned_zeros(shape.size)
        self.weights[:] = weights
        self.means, self.squares = np.zeros_like(weights), np.zeros_like(weights)
        self.steps = 0
        self._views = shape.views
        self._scale, self.result_share, self._exponent = float(scale), float(result_share), float(exponent)
        self.averaged = weights.copy() if average else self.weights
        self._least_share = 1 - math.exp(-_AVERAGED_STEPS / average) if average else 1.0
        self._slopes = _aligned_zeros(threads * shape.size).reshape(threads, shape.size)
        self.pool = ThreadPoolExecutor(threads, "training")
        self._submit: Any = self.pool.submit  # Any, because compiled functions have no types

    def step(self, records: NDArray[np.void], rate: float) -> float:
        """Improve the weights by one batch of positions, and return its mean loss; `rate` is the learning rate."""
        loss, _ = self._pass_over(records, learn=True)
        self.steps += 1
        cuts = np.linspace(0, self.shape.size, self.threads + 1).astype(np.int64)
        numbers = np.float32(1 / len(records)), np.float32(rate), np.float32(WEIGHT_DECAY), self.steps
        arrays = self.weights, self.means, self.squares, self._slopes
        jobs = [self._submit(adamw, *arrays, first, end, *numbers) for first, end in pairwise(cuts)]
        for job in jobs:
            job.result()
        is_due = self.steps % _AVERAGED_STEPS == 0 or self.steps < _AVERAGED_STEPS
        if self.averaged is not self.weights and is_due:
            new_share = max(self._least_share, min(1.0, _AVERAGED_STEPS / self.steps))
            self.averaged += np.float32(new_share) * (self.weights - self.averaged)
        return loss / len(records)

    def loss(self, records: NDArray[np.void]) -> float:
        """Return the mean loss of positions."""
        return self._pass_over(records, learn=False)[0] / len(records)

    def squared_error(self, records: NDArray[np.void], averaged: bool = False) -> float:
        """Return the mean squared error of the weights, or of their average, against the positions' scores alone.
        It ignores the games' results, and so compares networks with different exponents and result shares.
        """
        weights = self.averaged if averaged else self.weights
        return self._pass_over(records, False, weights, 0.0, 2.0)[0] / len(records)

    def values(self, records: NDArray[np.void]) -> NDArray[Any]:
        """Return the values of positions, in centipawns from the side to move's view."""
        return self._pass_over(records, learn=False)[1] * self._scale

    def gradient(self, records: NDArray[np.void]) -> Flat:
        """Return the gradient of the mean loss of positions."""
        self._pass_over(records, learn=True)
        slopes: Flat = self._slopes.sum(axis=0) / np.float32(len(records))
        self._slopes[:] = 0
        return slopes

    def _pass_over(
        self,
        records: NDArray[np.void],
        learn: bool,
        weights: Flat | None = None,
        result_share: float | None = None,
        exponent: float | None = None,
    ) -> tuple[float, NDArray[np.float32]]:
        outputs = np.empty(len(records), np.float32)
        cuts = np.linspace(0, len(records), self.threads + 1).astype(np.int64)
        parts = self.shape.parts(self.weights if weights is None else weights)
        share = self.result_share if result_share is None else result_share
        numbers = learn, self._views, self._scale, share, self._exponent if exponent is None else exponent
        jobs = []
        for thread, (first, end) in enumerate(pairwise(cuts)):
            slopes = self.shape.parts(self._slopes[thread])
            jobs.append(self._submit(pass_over, records[first:end], parts, slopes, *numbers, outputs[first:end]))
        return sum(job.result() for job in jobs), outputs

    def close(self) -> None:
        """Stop the threads."""
        self.pool.shutdown(cancel_futures=True)
