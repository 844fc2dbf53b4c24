"""The engine of each worker of a run: this engine, or an external one."""

from __future__ import annotations

from collections.abc import Mapping

from knightadder.library.board_engine import Engine
from knightadder.uci.analyst import UciAnalyst


class WorkerEngine:
    """The engine of a worker, which starts when it is first needed. It can be pickled before that.

    `command` starts an external engine; None means this engine. `options` are its UCI options, among them ``Hash``.
    `other` is the external engine, and `own_options` are the options of this engine besides ``Hash``. `said` holds this
    engine's messages about these options.
    """

    def __init__(self, command: str | None, options: Mapping[str, str]) -> None:
        self.other = None if command is None else UciAnalyst(command, options)
        self.own_options = {} if self.other else {name: value for name, value in options.items() if name != "Hash"}
        self.said: list[str] = []
        self._hash_mb = int(options["Hash"])
        self._own: Engine | None = None

    def get(self) -> Engine | UciAnalyst:
        """Return the engine; OptionError if there is too little memory, or an option cannot be set."""
        if self.other is not None:
            return self.other
        if self._own is None:
            self._own = open_engine(self._hash_mb)
            if self.own_options:
                self.said = self._own.configure(self.own_options)
        return self._own

    def close(self) -> None:
        """Terminate an external engine, even in the middle of a search."""
        if self.other is not None:
            self.other.close()


def open_engine(hash_mb: int) -> Engine:
    """Return this engine with a hash table of this size."""
    return Engine(hash_mb=hash_mb)
