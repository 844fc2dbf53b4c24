"""Iterative deepening: one call for a range of depths finds what the engine finds depth by depth."""

from __future__ import annotations

import numpy as np
import pytest
from core_helpers import NO_LIMIT, TABLE, TABLES, random_positions, set_up

from knightadder.core.api.deepening import deepen, forget
from knightadder.core.layout import MAX_DEPTH
from knightadder.engine.game import Game
from knightadder.engine.search_thread import Root, SearchThread, Variation
from knightadder.native.program import INTERPRETED

pytestmark = [pytest.mark.boundscheck, pytest.mark.nojit]

MATE_IN_TWO = "7k/8/8/8/8/8/R7/1R2K3 w - - 0 1"
POSITIONS = random_positions(1 if INTERPRETED else 40) + random_positions(1 if INTERPRETED else 10, True)


def thread_for(position: object, nodes: int = NO_LIMIT, stop: int = 0, worker: np.record | None = None) -> SearchThread:
    """Prepare a thread with an empty hash table, which has forgotten what its worker has learnt."""
    game = Game(TABLES)
    set_up(game, position)
    TABLE.age()
    root = Root(TABLES, game.copy(), game.legal_moves(), TABLE, np.full(1, stop, np.uint64))
    thread = SearchThread(root, game.record if worker is None else worker)
    forget(thread.worker)
    thread.prepare(nodes)
    return thread


def found(thread: SearchThread, lines: int) -> tuple[int, int, list[Variation]]:
    """Give the depth, the nodes and the lines."""
    return thread.depth, thread.nodes, [thread.line(index) for index in range(lines)]


def in_one_call(
    position: object, depth: int = MAX_DEPTH, nodes: int = NO_LIMIT, lines: int = 1, mate: int = 0, stop: int = 0
) -> tuple[int, int, list[Variation]]:
    thread = thread_for(position, nodes, stop)
    lines = min(lines, int(thread.worker.root_count))
    thread.deepen(1, depth, lines, 2 * mate)
    return found(thread, lines)


def by_depth_and_window(
    position: object, depth: int = MAX_DEPTH, nodes: int = NO_LIMIT, lines: int = 1
) -> tuple[int, int, list[Variation]]:
    thread = thread_for(position, nodes)
    lines = min(lines, int(thread.worker.root_count))
    while thread.completed < depth and not thread.stopped:
        following = thread.completed + 1
        thread.deepen(following, following, lines, pausing=True)
    return found(thread, lines)


@pytest.mark.parametrize("lines", [1, 3])
def test_a_depth_takes_the_same_way_in_one_call_or_many(lines: int) -> None:
    for board in POSITIONS:
        depth = 2 if INTERPRETED else 6
        assert in_one_call(board, depth=depth, lines=lines) == by_depth_and_window(board, depth=depth, lines=lines)


@pytest.mark.parametrize("lines", [1, 2])
def test_nodes_take_the_same_way_in_one_call_or_many(lines: int) -> None:
    for number, board in enumerate(POSITIONS):
        nodes = (10 if INTERPRETED else 500) + 7 * number
        assert in_one_call(board, nodes=nodes, lines=lines) == by_depth_and_window(board, nodes=nodes, lines=lines)


def test_no_depth_is_begun_after_enough_nodes() -> None:
    thread = thread_for(POSITIONS[0])
    completed = deepen(TABLES, thread.worker, 1, MAX_DEPTH, 1, 20, 0, 0)
    nodes = thread.nodes
    assert thread.depth == completed
    assert nodes >= 20 and not thread.stopped
    thread = thread_for(POSITIONS[0])
    assert deepen(TABLES, thread.worker, 1, completed - 1, 1, NO_LIMIT, 0, 0) == completed - 1
    assert thread.nodes < 20


def test_a_thread_that_forgets_searches_like_a_new_one() -> None:
    """Only what was learnt is cleared, where anything was, however the search before ended."""
    worker = Game(TABLES).record
    worker.frames["killers"][3] = 1  # a line that goes deep by null moves may find them
    for number, board in enumerate(POSITIONS):
        nodes = (10 if INTERPRETED else 500) + 7 * number
        expected = in_one_call(board, nodes=nodes)
        thread = thread_for(board, nodes, worker=worker)
        assert not worker.frames["killers"].any()
        thread.deepen(1, MAX_DEPTH)
        assert found(thread, 1) == expected


def test_a_mate_that_was_asked_for_ends_the_search() -> None:
    depth, _, [line] = in_one_call(MATE_IN_TWO, depth=12, mate=2)
    assert line.score == 32_000 - 3
    assert depth < 12
    assert in_one_call(MATE_IN_TWO, depth=5, mate=1)[0] == 5  # not a mate in one


def test_a_mate_that_a_shallow_search_finds_needs_no_proof() -> None:
    # The mate begins with checks, which are searched deeper, so the first iteration sees it.
    fen = "3qkbnr/1bpp2p1/r6p/pP3p2/RnN1p3/2P2P1P/3PP1P1/2BQKBNR b k - 1 11"
    depth, nodes, [line] = in_one_call(fen, depth=8, mate=2)
    assert line.score == 32_000 - 3
    assert in_one_call(fen, depth=depth)[1] == nodes


def test_a_stop_ends_the_search() -> None:
    depth, _, [line] = in_one_call(POSITIONS[0], stop=1)
    assert depth == 1
    assert line.moves
