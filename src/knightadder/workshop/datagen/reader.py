"""Reads games and returns their positions, filtered, at millions per second."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from knightadder.core.api.game_reading import count_games, read_games
from knightadder.core.board.packed import PACKED
from knightadder.core.board.position import POSITION
from knightadder.core.board.viriformat import NO_SCORE, WORD
from knightadder.core.tables import new_tables
from knightadder.engine.errors import OptionError

_BLOCK = 1 << 16  # positions read at once


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter for the positions of games."""

    first_ply: int = 0  # first ply to keep; ply 0 is White's first move
    score_below: int = 2000  # bound of the absolute score in centipawns; missing scores are above every bound
    quiet: bool = True  # whether to leave out positions in check, and those in which a capture or promotion was played


#: Keeps every position, even without a score.
EVERYTHING = Filter(0, 1 - int(NO_SCORE), False)


class Reader:
    """Reads games. Several threads may use it; it releases the GIL, so that they run in parallel."""

    def __init__(self) -> None:
        self._tables = new_tables()

    def count(self, words: NDArray[np.uint32]) -> tuple[int, int]:
        """Return the numbers of games and moves, without an incomplete last game."""
        counts = np.zeros(2, np.int64)
        count_games(words, counts)
        return int(counts[0]), int(counts[1])

    def blocks(self, words: NDArray[np.uint32], wanted: Filter) -> Iterator[NDArray[np.void]]:
        """Yield blocks of the positions that pass the filter, in order, so that a file may be larger than memory.

        The positions have scores from White's view and the results of their games. The words are games as
        ``core/board/viriformat.py`` describes them, such as ``np.memmap(file, np.uint32, "c")``.
        """
        place, positions, room = np.zeros(1, np.int64), np.zeros(2, POSITION), _BLOCK
        while place[0] < len(words):
            records = np.empty(room, PACKED)
            before = int(place[0])
            count = read_games(
                self._tables,
                positions,
                words,
                place,
                wanted.first_ply,
                wanted.score_below,
                int(wanted.quiet),
                records,
            )
            if count < 0:
                raise OptionError(f"the game at byte {int(place[0]) * WORD} is damaged")
            if place[0] == before:  # the game is longer than a block
                room *= 2
            elif count:
                yield records[:count]

    def read(self, words: NDArray[np.uint32], wanted: Filter) -> NDArray[np.void]:
        """Return all positions at once; see `blocks`."""
        return np.concatenate([np.empty(0, PACKED), *self.blocks(words, wanted)])
