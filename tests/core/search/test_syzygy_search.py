"""Endgame tablebases in search: when they are asked and what their values score."""

from __future__ import annotations

import chess
import numpy as np
import pytest
from compiling import compiled
from core_helpers import TABLES, new_game, set_up

from knightadder.core.search import tablebases as syzygy_search
from knightadder.core.search.transposition import (
    EXACT,
    LOWER,
    TABLEBASE_WIN,
    UPPER,
)
from knightadder.core.worker import WORKER
from knightadder.engine.tablebases.registry import Tablebases
from knightadder.native.jit import kernel
from knightadder.native.records import new_record

pytestmark = [pytest.mark.boundscheck, pytest.mark.nojit]

WIN = int(TABLEBASE_WIN)
GAME = new_game()


@compiled
def may_probe(worker, depth):
    return syzygy_search.may_probe(worker, worker.stack[0], depth)


@compiled
def probe_score(tables, worker, ply):
    return syzygy_search.probe_score(tables, worker, ply)


@pytest.fixture(scope="module")
def shipped() -> Tablebases:
    return Tablebases(TABLES)


def ready(tablebases: Tablebases, board: chess.Board | str, ply: int = 0) -> np.record:
    """Set up a position, some plies from the root, for a search that asks the tables."""
    record = set_up(GAME, board)
    record.stack[ply] = record.stack[0]
    record.tablebases_address = tablebases.address
    record.probe_men, record.probe_depth, record.fifty_moves, record.tb_hits = tablebases.largest, 1, 1, 0
    record.nodes = record.stopped = 0
    return record


@pytest.mark.parametrize(
    ("fen", "men", "least", "depth", "expected"),
    [
        ("4k3/8/8/8/8/8/8/4K2R w - - 0 1", 3, 1, 1, True),
        ("4k3/8/8/8/8/8/8/4K2R w - - 0 1", 0, 1, 1, False),  # tables are not to be asked
        ("4k3/8/8/8/8/8/8/4K2R w - - 1 1", 3, 1, 1, False),  # the value holds after a capture or a pawn move
        ("4k3/8/8/8/8/8/8/4K2R w K - 0 1", 3, 1, 1, False),
        ("4k3/8/8/8/8/8/8/3QK2R w - - 0 1", 3, 1, 1, False),
        ("4k3/8/8/8/8/8/8/3QK2R w - - 0 1", 4, 5, 4, False),  # with the most men a minimum of depth holds
        ("4k3/8/8/8/8/8/8/3QK2R w - - 0 1", 4, 5, 5, True),
        ("4k3/8/8/8/8/8/8/4K2R w - - 0 1", 4, 5, 1, True),
    ],
)
def test_when_tables_are_asked(fen: str, men: int, least: int, depth: int, expected: bool) -> None:
    record = set_up(GAME, fen)
    record.probe_men, record.probe_depth = men, least
    assert bool(may_probe(record, np.int64(depth))) is expected


@pytest.mark.parametrize(
    ("fen", "score", "bound"),
    [
        ("4k3/8/8/8/8/8/8/4K2R w - - 0 1", WIN - 3, LOWER),
        ("4k3/8/8/8/8/8/8/4K2R b - - 0 1", 3 - WIN, UPPER),
        ("4k3/8/8/8/8/8/8/4K2B b - - 0 1", 0, EXACT),
    ],
)
def test_scores_know_how_far_the_root_is(shipped: Tablebases, fen: str, score: int, bound: int) -> None:
    record = ready(shipped, fen, ply=3)
    assert probe_score(TABLES, record, np.int64(3)) == (score, bound)
    assert record.tb_hits == 1


def test_a_position_that_is_in_no_table(shipped: Tablebases) -> None:
    record = ready(shipped, "4k3/8/8/8/8/8/8/3QK2R w - - 0 1")
    assert probe_score(TABLES, record, np.int64(0))[1] == 0
    assert record.tb_hits == 0


@pytest.mark.parametrize(("fifty_moves", "expected"), [(1, (2, -2)), (0, (WIN - 1, 1 - WIN))])
def test_what_the_fifty_move_rule_makes_a_draw(
    shipped: Tablebases, monkeypatch: pytest.MonkeyPatch, fifty_moves: int, expected: tuple[int, int]
) -> None:
    # No table of three men has such positions, so the probe is stood in for.
    found = []
    for value in (1, -1):
        probe = kernel(lambda tables, tablebases, worker, ply, value=value: (np.int64(value), np.int64(1)))
        monkeypatch.setattr(syzygy_search, "probe_wdl", probe)
        fresh = compiled(syzygy_search.probe_score)
        record = ready(shipped, "4k3/8/8/8/8/8/8/4K2R w - - 0 1", ply=1)
        record.fifty_moves = fifty_moves
        score, known = fresh(TABLES, record, np.int64(1))
        assert known
        found.append(int(score))
    assert tuple(found) == expected


def test_a_worker_never_asks_of_itself() -> None:
    assert new_record(WORKER).probe_men == 0
