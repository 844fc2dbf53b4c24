"""The pool of engines: one for each running game, reused for later games."""

import threading
from collections.abc import Callable, Mapping
from typing import Protocol

import chess
import chess.engine

from knightadder.library.results import PlayResult


class MovePlayer(Protocol):
    """The part of an engine that a game needs; `knightadder.Engine` has it."""

    def configure(self, options: Mapping[str, str | int | bool]) -> list[str]:
        """Set UCI options by name."""

    def new_game(self) -> None:
        """Clear the tables that the previous game has filled."""

    def play(self, board: chess.Board, limit: chess.engine.Limit, *, ponder: bool = False) -> PlayResult:
        """Choose a move; with `ponder`, continue to search after the expected reply."""

    def stop(self) -> None:
        """Stop the running search soon; may be called from any thread."""

    def close(self) -> None:
        """Terminate the engine."""


class GameEngines:
    """A pool of engines for games."""

    def __init__(self, make: Callable[[], MovePlayer]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._free: list[MovePlayer] = []
        self._all: list[MovePlayer] = []

    def prepare(self) -> None:
        """Make the first engine, which loads the core, before the first game; EngineError if that fails."""
        self.give_back(self.take())

    def take(self) -> MovePlayer:
        """Take an engine that is not in use."""
        with self._lock:
            if self._free:
                return self._free.pop()
            engine = self._make()
            self._all.append(engine)
            return engine

    def give_back(self, engine: MovePlayer) -> None:
        """Return an engine to the pool after its game."""
        engine.stop()
        with self._lock:
            self._free.append(engine)

    def close(self) -> None:
        """Terminate all engines."""
        with self._lock:
            for engine in self._all:
                engine.close()
            self._all.clear()
            self._free.clear()
