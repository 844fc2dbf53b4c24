"""Fixtures of the tests that need the compiled core."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from knightadder.engine.engine import Engine


@pytest.fixture
def engine(shared_engine: Engine) -> Engine:
    """Give the engine with default options."""
    return shared_engine


@pytest.fixture
def without_tablebases(shared_engine: Engine) -> Engine:
    """Give the engine without endgame tablebases."""
    shared_engine.set_option("SyzygyProbeLimit", "0")
    return shared_engine


@pytest.fixture
def chess960_engine(shared_engine: Engine) -> Engine:
    """Give the engine with Chess960's notation of castling, king takes rook."""
    shared_engine.set_option("UCI_Chess960", "true")
    return shared_engine
