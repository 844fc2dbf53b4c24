"""The engines that play: one for each game at a time, used again for the next."""

import threading
from collections.abc import Callable, Mapping
from typing import Protocol

import chess
import chess.engine

from knightadder.library.results import PlayResult


class MovePlayer(Protocol):
    """What a game needs of an engine; `knightadder.Engine` is one."""

    def configure(self, options: Mapping[str, str | int | bool]) -> list[str]:
        """Set UCI options by name."""

    def new_game(self) -> None:
        """Forget the game before."""

    def play(self, board: chess.Board, limit: chess.engine.Limit, *, ponder: bool = False) -> PlayResult:
        """Choose a move, and think on about the expected reply."""

    def stop(self) -> None:
        """End the running search soon; callable from any thread."""

    def close(self) -> None:
        """End the engine."""


class EnginePool:
    """Engines for games.

    Parameters
    ----------
    make : callable
        Makes an engine.
    """

    def __init__(self, make: Callable[[], MovePlayer]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._free: list[MovePlayer] = []
        self._all: list[MovePlayer] = []

    def prepare(self) -> None:
        """Make the first engine, which loads the core, ahead of the first game; EngineError if it cannot be made."""
        self.give_back(self.take())

    def take(self) -> MovePlayer:
        """Give an engine that plays no game."""
        with self._lock:
            if self._free:
                return self._free.pop()
            engine = self._make()
            self._all.append(engine)
            return engine

    def give_back(self, engine: MovePlayer) -> None:
        """Take an engine back, whose game is over."""
        engine.stop()
        with self._lock:
            self._free.append(engine)

    def close(self) -> None:
        """End all engines."""
        with self._lock:
            for engine in self._all:
                engine.close()
            self._all.clear()
            self._free.clear()
