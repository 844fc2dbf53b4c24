"""The tables that the library's functions share, and what happens without the built-in network."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import chess
import pytest

from knightadder.core.evaluation.evaluate import CLASSICAL
from knightadder.engine import evaluator, options
from knightadder.engine.errors import OptionError
from knightadder.library import shared
from knightadder.library.board_engine import Engine
from knightadder.library.shared import tables_of

PROBLEM = "the built-in network cannot be used: "


@pytest.fixture
def lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give the place of the built-in network, where none is; and it would be the default."""
    file = tmp_path / "lost.nnue"
    monkeypatch.setattr(evaluator, "BUILT_IN_FILE", file)
    monkeypatch.setattr(shared, "DEFAULT_EVALUATION", "nnue")
    evaluation = next(option for option in options.OPTIONS if option.name == "EvalType")
    others = tuple(option for option in options.OPTIONS if option is not evaluation)
    default = replace(evaluation, default="nnue")
    monkeypatch.setattr(options, "OPTIONS", (*others, default))
    for cached in (shared._evaluator, shared._default_tables):
        cached.cache_clear()
    yield file
    for cached in (shared._evaluator, shared._default_tables):
        cached.cache_clear()


def test_without_its_network_the_default_is_classical(lost: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "knightadder"):
        for _ in range(2):
            assert tables_of().evaluation == CLASSICAL
    [record] = caplog.records
    assert record.getMessage().startswith(PROBLEM)


def test_an_engine_without_its_network_is_classical_too(lost: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "knightadder"):
        with Engine(hash_mb=1) as engine:
            assert engine.play(chess.Board(), chess.engine.Limit(nodes=100)).move in chess.Board().legal_moves
            assert engine.problem is not None and engine.problem.startswith(PROBLEM)
        with Engine(hash_mb=1, options={"EvalType": "classical"}) as engine:
            assert engine.problem is None  # which needs none
    [record] = caplog.records
    assert record.getMessage().startswith(PROBLEM)
    with pytest.raises(OptionError, match=PROBLEM):
        Engine(hash_mb=1, evaluation="nnue")
