"""The pool of engines: one for each running game, reused for later games."""

import threading
from collections.abc import Callable

from knightadder.closing import Closing
from knightadder.library.board_engine import Engine


class GameEngines(Closing):
    """A pool of engines for games; each plays only one game at a time."""

    def __init__(self, make: Callable[[], Engine]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._free: list[Engine] = []
        self._all: list[Engine] = []

    def prepare(self) -> None:
        """Make the first engine, which loads the core, before the first game; EngineError if that fails."""
        self.give_back(self.take())

    def take(self) -> Engine:
        """Take an engine that is not in use."""
        with self._lock:
            if self._free:
                return self._free.pop()
            engine = self._make()
            self._all.append(engine)
            return engine

    def give_back(self, engine: Engine) -> None:
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
