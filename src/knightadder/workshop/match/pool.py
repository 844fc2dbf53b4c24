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

# Seconds after which a thread that waits for the interpreter gets it. The usual 5 ms would be charged to an engine.
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
        What to play by.
    concurrency : int
        Games at once.
    on_game : callable
        Told of each finished game, in the thread that called; says whether to go on. Games under way when it says no,
        or when Ctrl-C is pressed, are broken off.
    on_failure : callable
        Told, in the same thread, that an engine of some name cannot be started. The game that it was to play is void,
        and its others are left out; those of the other engines go on.
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
        while not finished.empty():  # what was finished before is not lost
            item = finished.get()
            if isinstance(item, tuple):
                on_game(*item)
        raise
    finally:
        _break_off(workers)
        sys.setswitchinterval(interval)


def _break_off(workers: Sequence[_Worker]) -> None:
    """End all workers; does nothing to those that have ended."""
    for worker in workers:
        worker.abort()
    for worker in workers:
        worker.join(_JOIN_SECONDS)


class _Shared:
    """The games to play, for several threads."""

    def __init__(self, items: Iterable[Fixture]) -> None:
        self._items = iter(items)
        self._left_out: set[str] = set()
        self._lock = threading.Lock()

    def leave_out(self, name: str) -> bool:
        """Leave out the games of an engine; says whether that is new."""
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
        """Play until there is no game left."""
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
                if self._stopping.is_set():  # the fault at its end is that the engines were killed
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
        """See that just these engines are running."""
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
        """Break off the game under way, without waiting for its end."""
        self._stopping.set()
        for client in list(self._clients.values()):
            client.kill()
