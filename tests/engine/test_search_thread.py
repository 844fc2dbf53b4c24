"""One thread of a search: windows, depths, and what is known between two iterations."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from searcher import KIWIPETE

from knightadder.core.api.search import deepen
from knightadder.core.evaluation.evaluate import PESTO
from knightadder.core.search.transposition import INFINITE
from knightadder.core.tables import new_tables
from knightadder.core.worker import WORKER
from knightadder.engine.game import Game
from knightadder.engine.hashtable import HashTable
from knightadder.engine.info import Bound
from knightadder.engine.search_thread import NO_NODE_LIMIT, Root, SearchThread, Variation
from knightadder.native.records import new_record

TABLES = new_tables(PESTO)  # the sizes of trees below are those of its searches
LOWEST, HIGHEST = -int(INFINITE), int(INFINITE)


@pytest.fixture
def root() -> Root:
    game = Game(TABLES)
    game.set_up(KIWIPETE)
    return Root(TABLES, game, game.legal_moves(), HashTable(1), np.zeros(1, np.uint64))


def prepared(root: Root, node_limit: int = NO_NODE_LIMIT) -> SearchThread:
    thread = SearchThread(root, new_record(WORKER))
    assert thread.nodes == thread.depth == 0
    thread.prepare(node_limit)
    return thread


def windows(thread: SearchThread, deepest: int, lines: int = 1) -> Iterator[bool]:
    """Search window after window, to a depth; yields after each whether it has ended an iteration."""
    for depth in range(1, deepest + 1):
        while thread.completed < depth:
            thread.completed = deepen(TABLES, thread.worker, depth, depth, lines, NO_NODE_LIMIT, 0, 1)
            if thread.stopped:
                return
            yield thread.completed == depth


def iterations(thread: SearchThread, deepest: int, lines: int = 1) -> Iterator[int]:
    """Search depth after depth; yields those that are done."""
    for is_done in windows(thread, deepest, lines):
        if is_done:
            yield thread.completed


def test_it_searches_depth_after_depth_and_says_which_is_done(root: Root) -> None:
    thread = prepared(root)
    assert (thread.depth, thread.completed) == (0, 0)
    for wanted, depth in enumerate(iterations(thread, 5), 1):
        assert depth == thread.depth == thread.completed == wanted
        line = thread.line()
        assert (line.depth, line.bound) == (depth, Bound.EXACT)
        assert line.moves[0] in root.moves
        assert line.seldepth >= depth
    assert thread.completed == 5
    assert not thread.stopped
    assert 0 < thread.best_share < 1
    assert thread.nodes > 1000


def test_a_thread_that_was_not_prepared_knows_nothing_of_the_last_search(root: Root) -> None:
    worker = new_record(WORKER)
    other = Game(TABLES)
    before = SearchThread(Root(TABLES, other, other.legal_moves(), root.table, root.stop_flag), worker)
    before.prepare(2000)
    list(iterations(before, 9))
    thread = SearchThread(root, worker)
    assert thread.line() == Variation(1, 0, 0, Bound.EXACT, (root.moves[0],))
    assert thread.expected_reply(thread.line()) == 0
    assert not thread.stopped


def test_the_stop_flag_ends_it_at_the_next_node(root: Root) -> None:
    root.stop_flag[0] = 1
    thread = prepared(root)
    assert list(iterations(thread, 100)) == []
    assert (thread.stopped, thread.nodes) == (True, 1)
    root.stop_flag[0] = 0
    thread = prepared(root)
    for depth in iterations(thread, 100):
        if depth == 4:
            score = thread.line().score
            before = thread.nodes
            root.stop_flag[0] = 1
    assert thread.stopped
    assert (thread.completed, thread.depth) == (4, 5)
    assert thread.nodes == before + 1
    # The fifth iteration has no score yet.
    assert (thread.line().depth, thread.line().score) == (4, score)


def test_the_stop_flag_ends_it_at_the_next_node_within_an_iteration(root: Root) -> None:
    thread = prepared(root)
    for is_done in windows(thread, 100):
        if is_done and thread.depth == 6:
            thread.worker.root_moves[0].score += 200  # the next score will be outside its window
        if not is_done:
            root.stop_flag[0] = 1
            before = thread.nodes
    assert (thread.stopped, thread.nodes) == (True, before + 1)


def window_of(thread: SearchThread) -> tuple[int, int, int]:
    """Give the depth and the window searched next, or last."""
    worker = thread.worker
    return int(worker.root_depth), int(worker.root_alpha), int(worker.root_beta)


def test_the_windows_are_open_first_and_widen_where_the_score_lies_outside(root: Root) -> None:
    thread = prepared(root)
    ends = []  # the last window of each iteration
    wider: dict[int, list[tuple[int, int, int]]] = {}
    for is_done in windows(thread, 7):
        if not is_done:
            wider.setdefault(thread.depth, []).append(window_of(thread))
            continue
        ends.append(window_of(thread))
        score = thread.line().score
        if thread.depth == 5:
            thread.worker.root_moves[0].score = high = score + 200  # the next one will be lower
        if thread.depth == 6:
            assert ends[-1][1] < score < ends[-1][2]
            thread.worker.root_moves[0].score = low = score - 200
    assert ends[:4] == [(depth, LOWEST, HIGHEST) for depth in range(1, 5)]
    assert not wider.keys() & {1, 2, 3, 4}
    # A window is twice as large where it failed. After a fail low, the upper bound is the middle of the old window.
    size = 12 + min(low**2 // 5000, 60)
    assert wider[7][0][1] == low - size
    assert wider[7][0][2] >= low + 3 * size
    size = 12 + min(high**2 // 5000, 60)
    assert wider[6][0][2] == high
    assert wider[6][0][1] <= high - 3 * size
    assert ends[-1][1] < thread.line().score < ends[-1][2]


def test_what_a_move_has_proved_is_known_after_a_stop_in_the_next_window(root: Root) -> None:
    thread, proved = prepared(root), 0
    for is_done in windows(thread, 100):
        if is_done and thread.depth == 6:
            thread.worker.root_moves[0].score = low = thread.line().score - 200  # the next one will be higher
        if not is_done and thread.depth == 7:
            proved = int(thread.worker.root_moves[0].score)
            thread.worker.node_limit = thread.nodes + 1
    assert thread.stopped
    assert thread.line().score == proved > low


def test_a_mate_without_its_line_is_not_announced_after_a_stop(root: Root) -> None:
    root.game.set_up("7k/8/8/8/8/8/R7/1R2K3 w - - 0 1")  # a mate in two
    thread = prepared(replace(root, moves=root.game.legal_moves()))
    for is_done in windows(thread, 6):
        if is_done and thread.depth == 4:
            thread.worker.root_moves[0].score = 0  # so the next window ends at 12
        if not is_done:
            thread.worker.node_limit = thread.nodes + 1
    assert thread.stopped
    assert thread.line().score == 12
