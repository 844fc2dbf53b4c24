"""What the tests of commands that play games share; it names modules by text, since other tests need no core."""

import pytest


@pytest.fixture
def short_games(monkeypatch):
    """Let games be decided early."""
    monkeypatch.setattr("knightadder.workshop.selfplay.RESIGN_SCORE", 50)
    monkeypatch.setattr("knightadder.workshop.selfplay.RESIGN_PLIES", 2)


@pytest.fixture
def no_games(monkeypatch):
    """See to it that no game is begun."""

    def open_pool(*_, **__):
        raise AssertionError

    monkeypatch.setattr("knightadder.workshop.tune.trials_run.open_pool", open_pool)
