"""The batches of a run: positions of games in random order, mixed with distilled ones."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from knightadder.core.board.packed import PACKED
from knightadder.core.entries.distilling import distil_positions
from knightadder.core.layout import WORKER, new_record
from knightadder.engine.errors import OptionError
from knightadder.library.shared import Stock, tables_of
from knightadder.workshop.train.kernels import NO_RESULT

# Positions that stay together when the order of a pass is drawn. The file is shuffled already, so this only keeps the
# order small (a hundredth of the positions), and lets the disk read whole pages where the file exceeds the memory.
_GROUP = 64

_BLOCK = 4096  # positions distilled at once
_MOST_MOVES = 2  # random moves before a position is labelled: search meets what games do not


class Stream:
    """The positions for training, pass after pass without end; each pass is in another random order.

    Parameters
    ----------
    records : array of PACKED
        The positions, which are in random order themselves.
    seed : int
        Seed of the orders.
    """

    def __init__(self, records: NDArray[np.void], seed: int) -> None:
        self._records, self._seed = records, seed
        self._group = min(_GROUP, len(records))
        self._length = len(records) // self._group * self._group  # an incomplete last group is left out
        self._pass, self._order = -1, np.empty(0, np.int64)

    def take(self, first: int, count: int) -> NDArray[np.void]:
        """Return the positions from place `first` of the stream on."""
        parts = []
        while count:
            number, place = divmod(first, self._length)
            if number != self._pass:
                chance = np.random.default_rng((self._seed, number))
                self._pass, self._order = number, chance.permutation(self._length // self._group)
            places = np.arange(place, min(place + count, self._length))
            parts.append(self._records[self._order[places // self._group] * self._group + places % self._group])
            first, count = first + len(places), count - len(places)
        return np.concatenate([np.empty(0, PACKED), *parts])


class Distiller:
    """Makes positions without end, labelled by a static evaluation: those of games, up to two random moves later.

    Parameters
    ----------
    evaluation : str
        ``classical``, ``pesto`` or ``nnue``.
    source : array of PACKED
        The positions to begin with.
    value_below : int
        Only positions with an absolute value below this, in centipawns, are used.
    seed : int
        Seed of all chance.
    """

    def __init__(self, evaluation: str, source: NDArray[np.void], value_below: int, seed: int) -> None:
        self._tables, self._source = tables_of(evaluation), source
        self._value_below, self._seed = value_below, seed
        self._workers = Stock(lambda: new_record(WORKER))

    def take(self, number: int, count: int, pool: ThreadPoolExecutor) -> NDArray[np.void]:
        """Return the positions of a batch, which depend on its number only.

        Raises
        ------
        OptionError
            If hardly any position is suitable.
        """
        records = np.empty(count, PACKED)
        blocks = [records[first : first + _BLOCK] for first in range(0, count, _BLOCK)]
        seeds = np.random.SeedSequence((self._seed, number)).generate_state(len(blocks), np.uint64)
        list(pool.map(self._fill, blocks, seeds))
        records["spare"] = NO_RESULT
        return records

    def _fill(self, block: NDArray[np.void], seed: np.uint64) -> None:
        with self._workers.lend() as worker:
            done = distil_positions(
                self._tables, worker, self._source, int(seed), _MOST_MOVES, self._value_below, block
            )
        if done < len(block):
            raise OptionError("hardly any position is suitable for distillation: most are in check or decided")


class Mixture:
    """The batches of a run.

    Parameters
    ----------
    stream : Stream
        The positions of games.
    distiller : Distiller, optional
        What makes the others.
    size : int
        Positions of a batch.
    share : float
        Share of distilled positions in a batch.
    pool : ThreadPoolExecutor
        The threads that distil.
    """

    def __init__(
        self, stream: Stream, distiller: Distiller | None, size: int, share: float, pool: ThreadPoolExecutor
    ) -> None:
        self._stream, self._distiller, self._pool = stream, distiller, pool
        self._distilled = round(size * share) if distiller else 0
        self._own = size - self._distilled

    def batch(self, number: int) -> NDArray[np.void]:
        """Return a batch, which depends on its number only."""
        parts: Sequence[NDArray[np.void]] = [self._stream.take(number * self._own, self._own)]
        if self._distiller:
            parts = [*parts, self._distiller.take(number, self._distilled, self._pool)]
        return np.concatenate(parts)
