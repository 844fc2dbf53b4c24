"""What all tests share; being here, it lets them import the helpers beside it, such as `uci_driver`."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

# A test run in the background of a shell may have been told to ignore Ctrl-C, and every process that it starts would do
# so too; some tests send it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

if TYPE_CHECKING:
    from knightadder.engine.engine import Engine


@pytest.fixture(scope="session")
def shared_engine() -> Iterator[Engine]:
    """One engine for the whole run; tests use `engine` and the like, which put it in a known state."""
    from knightadder.engine.loader import load_engine  # here, so that tests without it do not load the core
    from knightadder.engine.options import Options

    engine = load_engine(Options(), lambda step: None)  # compiles first: no test's patience is for that
    yield engine
    engine.close()
