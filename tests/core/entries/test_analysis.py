"""Iterative deepening in one call, against that of the engine, which does the same from Python."""

from __future__ import annotations

import numpy as np
import pytest
from core_helpers import NO_LIMIT, TABLE, TABLES, random_positions, set_up

from knightadder.core.board.fen import START
from knightadder.core.entries import packing
from knightadder.core.entries.analysis import analyse_position, set_up_game
from knightadder.core.layout import MAX_DEPTH
from knightadder.engine.deepening import (
    Deepening,
    Line,
    Root,
    read_line,
)
from knightadder.engine.game import Game
from knightadder.engine.notation import parse_uci
from knightadder.native.program import INTERPRETED

pytestmark = [pytest.mark.boundscheck, pytest.mark.nojit]

MATE_IN_TWO = "7k/8/8/8/8/8/R7/1R2K3 w - - 0 1"


def game(position: object) -> Game:
    """Give a game of its own, with nothing learnt, and an empty hash table."""
    new = Game(TABLES)
    set_up(new, position)
    return new


def analyse(
    position: object, depth: int = MAX_DEPTH, nodes: int = NO_LIMIT, lines: int = 1, mate: int = 0, stop: int = 0
) -> tuple[int, int, list[Line]]:
    """Search in one call; gives the depth, the nodes and the lines."""
    record = game(position).record
    flag = np.full(1, stop, np.uint64)
    record.stop_address = flag.ctypes.data
    searched = int(analyse_position(TABLES, record, depth, nodes, lines, 2 * mate))
    count = min(lines, int(record.root_count))
    return searched, int(record.nodes), [read_line(record.root_moves, index, searched) for index in range(count)]


def analyse_step_by_step(
    position: object, depth: int = MAX_DEPTH, nodes: int = NO_LIMIT, lines: int = 1
) -> tuple[int, int, list[Line]]:
    """Search as the engine does."""
    new = game(position)
    TABLE.age()
    moves = new.legal_moves()
    search = Deepening(Root(TABLES, new.copy(), moves, TABLE, np.zeros(1, np.uint64)), new.record)
    search.prepare(nodes)
    count = min(lines, len(moves))
    for _ in search.iterations(depth, count):
        pass
    return search.depth, search.nodes, [search.line(index) for index in range(count)]


POSITIONS = random_positions(1 if INTERPRETED else 40) + random_positions(1 if INTERPRETED else 10, True)


@pytest.mark.parametrize("lines", [1, 3])
def test_a_depth_takes_the_same_way_as_the_engine(lines: int) -> None:
    for board in POSITIONS:
        depth = 2 if INTERPRETED else 6
        assert analyse(board, depth=depth, lines=lines) == analyse_step_by_step(board, depth=depth, lines=lines)


@pytest.mark.parametrize("lines", [1, 2])
def test_nodes_take_the_same_way_as_the_engine(lines: int) -> None:
    for number, board in enumerate(POSITIONS):
        nodes = (10 if INTERPRETED else 500) + 7 * number
        assert analyse(board, nodes=nodes, lines=lines) == analyse_step_by_step(board, nodes=nodes, lines=lines)


def test_lines_stand_in_order() -> None:
    for board in POSITIONS:
        _, _, lines = analyse(board, depth=2, lines=4)
        scores = [line.score for line in lines]
        assert scores == sorted(scores, reverse=True)
        assert len({line.moves[0] for line in lines}) == min(4, board.legal_moves.count())


def test_a_worker_that_has_searched_before_searches_like_a_new_one() -> None:
    """Only what was learnt is cleared, where anything was, however the search before ended."""
    worker, flag = Game(TABLES).record, np.zeros(1, np.uint64)
    worker.stop_address = flag.ctypes.data
    worker.tt_address, worker.tt_buckets = TABLE.address, TABLE.buckets
    for number, board in enumerate(POSITIONS):
        nodes = (10 if INTERPRETED else 500) + 7 * number
        expected = analyse(board, nodes=nodes)
        TABLE.clear()
        set_up_game(TABLES, worker, packing.pack_fen(TABLES, board.fen()), 0, np.zeros(0, np.int64))
        depth = int(analyse_position(TABLES, worker, MAX_DEPTH, nodes, 1, 0))
        assert (depth, int(worker.nodes), [read_line(worker.root_moves, 0, depth)]) == expected


def test_a_mate_that_was_asked_for_ends_the_search() -> None:
    depth, _, [line] = analyse(MATE_IN_TWO, depth=12, mate=2)
    assert line.score == 32_000 - 3
    assert depth < 12
    assert analyse(MATE_IN_TWO, depth=5, mate=1)[0] == 5  # not a mate in one


def test_a_stop_ends_the_search() -> None:
    depth, _, [line] = analyse(POSITIONS[0], stop=1)
    assert depth == 1
    assert line.moves


@pytest.mark.parametrize("fen", ["7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1"])
def test_a_position_without_moves_is_not_searched(fen: str) -> None:
    assert analyse(fen, depth=3) == (0, 0, [])


def test_a_game_is_set_up_from_a_record_and_its_moves() -> None:
    names = ["e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "g8f6", "e1g1", "f6e4"]
    squares = [parse_uci(name) for name in names]
    moves = np.array([source | target << 6 | promotion << 12 for source, target, promotion in squares], np.int64)
    worker = Game(TABLES).record
    records = np.concatenate([packing.pack_fen(TABLES, MATE_IN_TWO), packing.pack_fen(TABLES, START)])
    expected = Game(TABLES)
    for wanted, played in ((moves, 8), (moves[:3], 3), (moves[:0], 0), (moves[[0, 1, 0]], 2)):
        assert set_up_game(TABLES, worker, records, 1, wanted) == played
        expected.set_up(None, names[:played])
        assert worker.stack[0].tobytes() == expected.record.stack[0].tobytes()
        count = int(worker.key_count)
        assert count == expected.record.key_count
        assert worker.keys[:count].tolist() == expected.record.keys[:count].tolist()
