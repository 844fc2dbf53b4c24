"""What the tests of matches share."""

import sys
from pathlib import Path

import pytest
from inline_pool import inline_pool as inline_pool

from knightadder.uci import client as uci_client
from knightadder.uci.client import UciClient

FAKE_ENGINE = Path(__file__).with_name("fake_engine.py")


@pytest.fixture(autouse=True)
def wait_for_the_end(monkeypatch):
    """Learn an engine's status however busy the machine is."""
    monkeypatch.setattr(uci_client, "_END_SECONDS", 60.0)


def _command(*words):
    return [sys.executable, str(FAKE_ENGINE), *words]


@pytest.fixture
def fake_command():
    """Give the function that writes the command of a fake engine."""
    return _command


@pytest.fixture
def start_fake():
    """Give the function that starts a fake engine, and end all that it started."""
    clients = []

    def start(*words):
        client = UciClient(_command(*words))
        clients.append(client)
        client.handshake(60)
        return client

    yield start
    for client in clients:
        client.close()
