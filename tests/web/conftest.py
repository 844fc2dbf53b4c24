"""Fixtures of the tests of the web board."""

import pytest
from board_server import BoardServer
from board_tab import open_tab
from stand_in_engine import StandInEngine


@pytest.fixture(scope="session")
def shared_server():
    with BoardServer().running() as server:
        yield server


@pytest.fixture
def server(shared_server):
    """Give a server whose tabs get a stand-in for the engine each; a test may make others."""
    shared_server.make_engine = StandInEngine
    return shared_server


@pytest.fixture
def engine(server):
    """Give the engine of the tabs of this test."""
    engine = StandInEngine()
    server.make_engine = lambda: engine
    return engine


@pytest.fixture
def tab(server, engine):
    with open_tab(server) as tab:
        yield tab
