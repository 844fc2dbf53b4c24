"""Plays chunks of games on the workers of a pool."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from knightadder.engine.errors import EngineError, OptionError
from knightadder.library.loading import load_core
from knightadder.parallel.pool import Pool
from knightadder.workshop.datagen.parts import Chunk, Parts
from knightadder.workshop.datagen.reader import EVERYTHING, Reader
from knightadder.workshop.datagen.self_player import GameSettings, SelfPlayer


class ChunkPlayer:
    """The task that plays a chunk and returns its bytes; see `SelfPlayer.play_chunk`."""

    def __init__(self, settings: GameSettings) -> None:
        self._settings = settings
        self._player: SelfPlayer | None = None

    def __call__(self, number: int) -> bytes:
        """Play the chunk with this number; EngineError if that fails."""
        if self._player is None:
            load_core()
            self._player = SelfPlayer(self._settings)
        return self._player.play_chunk(number).tobytes()


def play_chunks(pool: Pool, parts: Parts, numbers: Iterable[int], games: int) -> Iterator[Chunk]:
    """Play chunks of `games` games, several at once, save and list them; yield each chunk."""
    reader = Reader()
    for number, data in pool.run(numbers):
        chunk = parts.save(number, _checked(reader, number, data, games), games)
        parts.add(chunk)
        yield chunk


def _checked(reader: Reader, number: int, data: bytes, games: int) -> NDArray[np.uint32]:
    """Check that all moves of a worker's chunk are legal, and return the chunk."""
    try:
        words = np.frombuffer(bytearray(data), np.uint32)
        moves = len(reader.read(words, EVERYTHING))
    except (OptionError, TypeError, ValueError) as error:
        raise EngineError(f"a worker returned a damaged chunk {number}: {error}") from None
    found, complete = reader.count(words)
    if (found, complete) != (games, moves):
        raise EngineError(f"a worker returned a damaged chunk {number}: expected {games} games, got {found}")
    return words
