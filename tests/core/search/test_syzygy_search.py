"""Endgame tablebases in search: when they are asked. What their values score, whole searches show."""

from __future__ import annotations

import numpy as np
import pytest
from compiling import compiled
from core_helpers import new_game, set_up

from knightadder.core.search import tablebase_probe as syzygy_search
from knightadder.core.worker import WORKER
from knightadder.native.records import new_record

pytestmark = [pytest.mark.boundscheck, pytest.mark.nojit]

GAME = new_game()


@compiled
def may_probe(worker, depth):
    return syzygy_search.may_probe(worker, worker.stack[0], depth)


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


def test_a_worker_never_asks_of_itself() -> None:
    assert new_record(WORKER).probe_men == 0
