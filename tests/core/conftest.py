"""Fixtures of the tests that need the compiled core."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from knightadder.engine.engine import Engine


@pytest.fixture
def engine(shared_engine: Engine) -> Engine:
    """Give the engine with standard notation of castling."""
    shared_engine.set_option("UCI_Chess960", "false")
    return shared_engine


@pytest.fixture
def without_tablebases(engine: Engine) -> Iterator[Engine]:
    """Give the engine without endgame tablebases."""
    engine.set_option("SyzygyProbeLimit", "0")
    yield engine
    engine.set_option("SyzygyProbeLimit", "7")


@pytest.fixture
def chess960_engine(shared_engine: Engine) -> Iterator[Engine]:
    """Give the engine with Chess960's notation of castling, king takes rook."""
    shared_engine.set_option("UCI_Chess960", "true")
    yield shared_engine
    shared_engine.set_option("UCI_Chess960", "false")
