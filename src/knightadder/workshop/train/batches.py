"""The batches of a run: positions of games in random order, mixed with distilled positions."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from knightadder.closing import Closing
from knightadder.core.api.distilling import distil_positions
from knightadder.core.board.packed import PACKED
from knightadder.core.worker import WORKER
from knightadder.engine.errors import OptionError
from knightadder.library.shared import Stock, tables_of
from knightadder.native.records import new_record
from knightadder.workshop.train.kernels import NO_RESULT
from knightadder.workshop.train.selection import SelectedGames

_WINDOW = 4_000_000  # number of moves whose positions are shuffled together: about 80 MB
_BLOCK = 4096  # positions to distil at once
_MOST_MOVES = 2  # maximum number of random moves before labelling: they give positions that occur only in searches

T = TypeVar("T")

#: A place in a stream: the pass, the window in the pass, and the position in the window.
Place: TypeAlias = tuple[int, int, int]


def ahead(make: Callable[[], T], count: int) -> Generator[T, None, None]:
    """Yield the results of repeated calls of a function; a separate thread makes up to `count` calls in advance."""
    with ThreadPoolExecutor(1, "ahead") as maker:
        coming = deque(maker.submit(make) for _ in range(count))
        try:
            while True:
                made = coming.popleft().result()
                coming.append(maker.submit(make))
                yield made
        finally:
            for each in coming:
                each.cancel()


class PositionStream(Closing):
    """The positions for training: endless passes, each in a different random order, that begin at a given place.

    In each pass, the chunks of games come in random order. Chunks with a total of about four million moves form a
    window, whose positions are shuffled. A window contains chunks from everywhere and fills hundreds of batches, so
    positions of one game are rarely in the same batch. A separate thread reads the next window.
    """

    def __init__(self, games: SelectedGames, seed: int, place: Place = (0, 0, 0)) -> None:
        self._games, self._seed, self.place = games, seed, place
        self._coming = place[:2]
        self._empty = 0  # number of successive windows without positions
        self._windows = ahead(self._read, 1)
        self._place, self._records = next(self._windows)

    def take(self, count: int) -> NDArray[np.void]:
        """Return the next positions; OptionError if the games cannot be read."""
        parts = [np.empty(0, PACKED)]
        while count:
            first = self.place[2]
            part = self._records[first : first + count]
            parts.append(part)
            count -= len(part)
            self.place = (*self._place, first + len(part))
            if count:
                self._place, self._records = next(self._windows)
                self.place = (*self._place, 0)
        return np.concatenate(parts)

    def _read(self) -> tuple[tuple[int, int], NDArray[np.void]]:
        """Read the next window that has positions, and shuffle its positions."""
        while True:
            number, window = self._coming
            order = np.random.default_rng((self._seed, number)).permutation(len(self._games.moves))
            windows = (np.cumsum(self._games.moves[order]) - self._games.moves[order]) // _WINDOW
            last = window >= windows[-1]
            self._coming = (number + 1, 0) if last else (number, window + 1)
            records = self._games.training(order[windows == window].tolist())
            if len(records):
                self._empty = 0
                chance = np.random.default_rng((self._seed, number, window))
                return (number, window), records.take(chance.permutation(len(records)))
            self._empty += 1
            if self._empty > len(order) + 1:
                raise OptionError("the games have no positions for training")

    def close(self) -> None:
        """Stop the thread."""
        self._windows.close()


class Distiller:
    """Makes endless positions labelled by a static evaluation, from positions of games and up to two random moves.
    Only positions with an absolute value below `value_below`, in centipawns, are used.
    """

    def __init__(self, evaluation: str, value_below: int, seed: int) -> None:
        self._tables = tables_of(evaluation)
        self._value_below, self._seed = value_below, seed
        self._workers = Stock(lambda: new_record(WORKER))

    def take(self, source: NDArray[np.void], number: int, count: int, pool: ThreadPoolExecutor) -> NDArray[np.void]:
        """Return the positions of a batch, which depend only on the arguments; OptionError if few are suitable."""
        records = np.empty(count, PACKED)
        blocks = [records[first : first + _BLOCK] for first in range(0, count, _BLOCK)]
        seeds = np.random.SeedSequence((self._seed, number)).generate_state(len(blocks), np.uint64)
        list(pool.map(lambda block, seed: self._fill(source, block, seed), blocks, seeds))
        records["spare"] = NO_RESULT
        return records

    def _fill(self, source: NDArray[np.void], block: NDArray[np.void], seed: np.uint64) -> None:
        with self._workers.lend() as worker:
            done = distil_positions(self._tables, worker, source, int(seed), _MOST_MOVES, self._value_below, block)
        if done < len(block):
            raise OptionError("hardly any position is suitable for distillation: most are in check or decided")


class Mixture:
    """The batches of a run, with a share of distilled positions.
    Each batch takes a whole batch from the stream. The positions that it does not use are the source of distilled ones.
    """

    def __init__(
        self, stream: PositionStream, distiller: Distiller | None, size: int, share: float, pool: ThreadPoolExecutor
    ) -> None:
        self._stream, self._distiller, self._pool, self._size = stream, distiller, pool, size
        self._distilled = round(size * share) if distiller else 0

    def batch(self, number: int) -> tuple[NDArray[np.void], Place]:
        """Return the batch with this number, and the place in the stream after the batch."""
        records = self._stream.take(self._size)
        if self._distiller and self._distilled:
            own, begin = np.split(records, [self._size - self._distilled])
            records = np.concatenate([own, self._distiller.take(begin, number, self._distilled, self._pool)])
        return records, self._stream.place
