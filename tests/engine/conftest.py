"""Fixtures of the tests that search."""

import threading
from collections.abc import Iterator

import pytest
from searcher import Clock, Searcher

from knightadder.engine import reporting, running_search, search_clock
from knightadder.engine.engine import Engine


@pytest.fixture
def engine(shared_engine: Engine) -> Iterator[Engine]:
    """Give an engine with default options, at the start of a game."""
    shared_engine.new_game()
    shared_engine.set_position()
    yield shared_engine
    shared_engine.stop()
    shared_engine.wait()


@pytest.fixture
def searcher(engine: Engine) -> Searcher:
    return Searcher(engine)


@pytest.fixture
def on_large_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let any number of threads search, even if this machine has fewer processors."""
    monkeypatch.setattr("knightadder.engine.engine.processors", lambda: 512)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Give an event that is set when a search has come to its end and holds its result back."""
    holding = threading.Event()

    class Changed(threading.Condition):
        def wait(self, timeout: float | None = None) -> bool:
            if timeout is None:  # the clock's thread always has one
                holding.set()
            return super().wait(timeout)

    start = running_search.Search.start

    def start_watched(this: running_search.Search) -> None:
        this._clock._changed = Changed()
        start(this)

    monkeypatch.setattr(running_search.Search, "start", start_watched)
    return holding


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    time = Clock()
    check = search_clock.SearchClock._check

    def check_and_tell(this: search_clock.SearchClock) -> float:
        pause = check(this)
        time.looked()
        return pause

    monkeypatch.setattr(running_search, "time", time)
    monkeypatch.setattr(reporting, "time", time)
    monkeypatch.setattr(search_clock, "time", time)
    monkeypatch.setattr(search_clock, "TICK", 0.001)
    monkeypatch.setattr(search_clock.SearchClock, "_check", check_and_tell)
    return time
