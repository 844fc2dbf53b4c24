"""Plays the games of a match, several at once, each in a thread that keeps its engines from game to game."""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from knightadder.engine.errors import EngineError
from knightadder.workshop.match.competitors import Competitor
from knightadder.workshop.match.journal import Fixture
from knightadder.workshop.match.referee import Game, Rules, Side, play_game
from knightadder.workshop.openings import Book
from knightadder.workshop.uci_client import UciClient

_POLL_SECONDS = 0.1
_JOIN_SECONDS = 5.0

# Switch interval of Python's threads in seconds: a wait of the default 5 ms would be charged to an engine's clock.
_SWITCH_SECONDS = 0.0002

OnGame: TypeAlias = Callable[[Fixture, Game], bool]
OnFailure: TypeAlias = Callable[[str, EngineError], None]


class _StartError(Exception):
    """An engine cannot be started."""

    def __init__(self, name: str, error: EngineError) -> None:
        super().__init__(name)
        self.name, self.error = name, error


def play_all(
    competitors: Mapping[str, Competitor],
    fixtures: Iterable[Fixture],
    book: Book,
    rules: Rules,
    concurrency: int,
    on_game: OnGame,
    on_failure: OnFailure,
) -> None:
    """Play games until all are played or the match is decided.

    Parameters
    ----------
    competitors : mapping of str to Competitor
        The engines by name.
    fixtures : iterable of Fixture
        The games.
    book : Book
        Their openings.
    rules : Rules
        The rules of the games.
    concurrency : int
        Number of games at once.
    on_game : callable
        Called with each finished game, in the calling thread; returns whether to continue. If not, or after Ctrl-C,
        running games are aborted.
    on_failure : callable
        Called in the same thread with the name of an engine that cannot be started and the error. All games of this
        engine are left out; those of the other engines go on.
    """
    waiting = _Shared(fixtures)
    finished: queue.SimpleQueue[tuple[Fixture, Game] | BaseException | None] = queue.SimpleQueue()
    workers = [_Worker(competitors, waiting, book, rules, finished) for _ in range(concurrency)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_SECONDS)
    try:
        for worker in workers:
            worker.start()
        running = len(workers)
        while running:
            try:
                item = finished.get(timeout=_POLL_SECONDS)
            except queue.Empty:
                continue
            if item is None:
                running -= 1
            elif isinstance(item, _StartError):
                on_failure(item.name, item.error)
            elif isinstance(item, BaseException):
                raise item
            elif not on_game(*item):
                break
    except KeyboardInterrupt:
        _break_off(workers)
        while not finished.empty():  # report the games that are already finished
            item = finished.get()
            if isinstance(item, tuple):
                on_game(*item)
        raise
    finally:
        _break_off(workers)
        sys.setswitchinterval(interval)


def _break_off(workers: Sequence[_Worker]) -> None:
    """Abort all workers and wait for their end; workers that have ended are unaffected."""
    for worker in workers:
        worker.abort()
    for worker in workers:
        worker.join(_JOIN_SECONDS)


class _Shared:
    """The games to play; an iterator that threads can share."""

    def __init__(self, items: Iterable[Fixture]) -> None:
        self._items = iter(items)
        self._left_out: set[str] = set()
        self._lock = threading.Lock()

    def leave_out(self, name: str) -> bool:
        """Leave out the games of an engine; return whether they were not left out before."""
        with self._lock:
            new = name not in self._left_out
            self._left_out.add(name)
            return new

    def __iter__(self) -> Iterator[Fixture]:
        return self

    def __next__(self) -> Fixture:
        with self._lock:
            return next(item for item in self._items if self._left_out.isdisjoint((item.white, item.black)))


class _Worker(threading.Thread):
    """Plays one game after the other."""

    def __init__(
        self,
        competitors: Mapping[str, Competitor],
        fixtures: _Shared,
        book: Book,
        rules: Rules,
        finished: queue.SimpleQueue[tuple[Fixture, Game] | BaseException | None],
    ) -> None:
        super().__init__(daemon=True)
        self._competitors = competitors
        self._fixtures = fixtures
        self._book = book
        self._rules = rules
        self._finished = finished
        self._clients: dict[str, UciClient] = {}
        self._stopping = threading.Event()

    def run(self) -> None:
        """Play until no game is left."""
        try:
            for fixture in self._fixtures:
                try:
                    self._seat(fixture.white, fixture.black)
                except _StartError as error:
                    if self._fixtures.leave_out(error.name) and not self._stopping.is_set():
                        self._finished.put(error)
                    continue
                if self._stopping.is_set():
                    break
                white, black = (
                    Side(self._clients[name], self._competitors[name].allowance)
                    for name in (fixture.white, fixture.black)
                )
                game = play_game(white, black, self._book.opening(fixture.round), self._rules)
                if self._stopping.is_set():  # the game ended because abort() killed the engines
                    break
                self._finished.put((fixture, game))
        except BaseException as error:
            if not self._stopping.is_set():
                self._finished.put(error)
        finally:
            for client in self._clients.values():
                client.close()
            self._finished.put(None)

    def _seat(self, *names: str) -> None:
        """Start these engines if they are not running, and close all others."""
        for name, client in list(self._clients.items()):
            if name not in names or not client.running:
                del self._clients[name]
                client.close()
        for name in names:
            if name not in self._clients and not self._stopping.is_set():
                try:
                    self._clients[name] = self._competitors[name].start(self._rules.chess960)
                except EngineError as error:
                    raise _StartError(name, error) from None

    def abort(self) -> None:
        """Abort the running game, without waiting for its end."""
        self._stopping.set()
        for client in list(self._clients.values()):
            client.kill()
