"""What Python asks of endgame tablebases: the moves of a position, as python-chess has them."""

from __future__ import annotations

import chess
import chess.syzygy
import numpy as np
import pytest
from core_helpers import TABLES, boards_of_table, new_game, set_up

from knightadder.core.api import tablebase_values as syzygy_api
from knightadder.engine.notation import to_uci
from knightadder.engine.tablebases.registry import SHIPPED, Tablebases
from knightadder.native.program import INTERPRETED

pytestmark = [pytest.mark.boundscheck, pytest.mark.nojit]

GAME = new_game()


@pytest.mark.parametrize("name", ["KPvK", "KQvK", "KRvK"])
def test_the_moves_of_a_position(name: str) -> None:
    shipped = Tablebases(TABLES)
    with chess.syzygy.open_tablebase(str(SHIPPED)) as reference:
        for board in boards_of_table(name, 2 if INTERPRETED else 40, seed=3):
            record = set_up(GAME, board)
            for move in GAME.legal_moves():
                board.push_uci(to_uci(move))
                wdl, known = syzygy_api.find_wdl_after(TABLES, shipped.record, record, move)
                assert (-wdl, known) == (reference.probe_wdl(board), 1)
                dtz, known = syzygy_api.find_dtz_after(TABLES, shipped.record, record, move)
                assert (dtz, known) == (distance_through(board, reference), 1), board.fen()
                board.pop()


def distance_through(after: chess.Board, reference: chess.syzygy.Tablebase) -> int:
    """Give the distance to zeroing of the move that led to a position, by python-chess's values."""
    if after.halfmove_clock == 0:
        return -int(np.sign(reference.probe_wdl(after)))
    if after.is_checkmate():
        return 1
    dtz = -reference.probe_dtz(after)
    return int(dtz + np.sign(dtz))


def test_a_move_that_draws_by_rule() -> None:
    shipped = Tablebases(TABLES)
    GAME.set_up("8/8/8/4k3/8/8/8/R3K3 w - - 99 80")
    for find in (syzygy_api.find_wdl_after, syzygy_api.find_dtz_after):
        assert find(TABLES, shipped.record, GAME.record, GAME.find("a1a8")) == (0, 1)
    GAME.set_up("8/8/8/4k3/8/8/8/R3K3 w - - 4 80", ["a1a2", "e5e4", "a2a1", "e4e5"] * 2)
    for find in (syzygy_api.find_wdl_after, syzygy_api.find_dtz_after):
        value, known = find(TABLES, shipped.record, GAME.record, GAME.find("a1a8"))
        assert (value > 0, known) == (True, 1)
    GAME.set_up("8/8/8/4k3/8/8/8/R3K3 w - - 4 80", [*["a1a2", "e5e4", "a2a1", "e4e5"] * 2][:7])
    for find in (syzygy_api.find_wdl_after, syzygy_api.find_dtz_after):
        assert find(TABLES, shipped.record, GAME.record, GAME.find("e4e5")) == (0, 1)
