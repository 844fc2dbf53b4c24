"""Fixtures of the tests that search."""

from collections.abc import Iterator

import pytest
from searcher import Searcher

from knightadder.engine.engine import Engine
from knightadder.engine.options import Options


@pytest.fixture
def engine(shared_engine: Engine) -> Iterator[Engine]:
    """Give an engine with default options, at the start of a game."""
    shared_engine.new_game()
    shared_engine.set_position()
    yield shared_engine
    shared_engine.close()
    defaults = Options()
    for name in (
        "Hash",
        "Threads",
        "MultiPV",
        "Move Overhead",
        "UCI_Chess960",
        "UCI_AnalyseMode",
        "UCI_ShowWDL",
        "UCI_LimitStrength",
        "UCI_Elo",
        "Skill Level",
        "OwnBook",
        "BookFile",
        "BookDepth",
        "BestBookMove",
        "SyzygyPath",
        "SyzygyProbeLimit",
        "Syzygy50MoveRule",
    ):
        shared_engine.set_option(name, str(defaults[name]).lower())


@pytest.fixture
def searcher(engine: Engine) -> Searcher:
    return Searcher(engine)
