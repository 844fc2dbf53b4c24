"""A way to search with an engine and keep all that it says."""

import threading
from dataclasses import dataclass, field

from knightadder.engine.engine import Engine
from knightadder.engine.info import CurrentMove, Info, Message, Result
from knightadder.engine.limits import Limits

TIMEOUT = 60.0


@dataclass
class Listener:
    """Keeps what a search reports, in order."""

    reports: list[Info | CurrentMove | Message] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    done: threading.Event = field(default_factory=threading.Event)

    def on_done(self, result: Result) -> None:
        self.results.append(result)
        self.done.set()

    @property
    def infos(self) -> list[Info]:
        return [report for report in self.reports if isinstance(report, Info)]

    @property
    def result(self) -> Result:
        """The result, of which there must be just one."""
        assert self.done.wait(TIMEOUT)
        [result] = self.results
        return result


class Searcher:
    """An engine whose searches are listened to."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def start(self, limits: Limits, fen: str | None = None, moves: tuple[str, ...] = ()) -> Listener:
        """Start a search of a position, by an engine that knows nothing yet."""
        self.engine.new_game()
        self.engine.set_position(fen, moves)
        return self.go(limits)

    def go(self, limits: Limits) -> Listener:
        """Start a search."""
        listener = Listener()
        self.engine.go(limits, listener.reports.append, listener.on_done)
        return listener

    def search(self, limits: Limits, fen: str | None = None, moves: tuple[str, ...] = ()) -> Listener:
        """Search a position and wait for the result."""
        listener = self.start(limits, fen, moves)
        assert listener.result is not None
        assert self.engine.wait(TIMEOUT)
        return listener
