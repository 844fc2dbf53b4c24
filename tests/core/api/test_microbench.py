"""The benchmark's loops do all the work they are timed for."""

from __future__ import annotations

import pytest
from core_helpers import TABLES, new_game

from knightadder.core.api import microbench
from knightadder.core.api import playing as core_game
from knightadder.core.api.static_eval import evaluate_position

KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"


@pytest.mark.nojit
@pytest.mark.boundscheck
@pytest.mark.parametrize("fen", [None, KIWIPETE])
def test_loops_add_up(fen: str | None) -> None:
    record = new_game(fen).record
    value = evaluate_position(TABLES, record)
    moves = core_game.list_moves(TABLES, record)
    for count in (1, 200):
        assert microbench.time_evaluate(TABLES, record, count) == count * value
        assert microbench.time_generate(TABLES, record, count) == count * moves
