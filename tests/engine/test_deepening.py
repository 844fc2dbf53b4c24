"""Iterative deepening in one thread: windows, depths, and what is known between two iterations."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from searcher import KIWIPETE

from knightadder.core.evaluation.evaluate import PESTO
from knightadder.core.search.transposition import INFINITE, MATE
from knightadder.core.tables import new_tables
from knightadder.core.worker import WORKER
from knightadder.engine import deepening
from knightadder.engine.deepening import Deepening, Line, Root
from knightadder.engine.game import Game
from knightadder.engine.hashtable import HashTable
from knightadder.engine.info import Bound
from knightadder.native.records import new_record

TABLES = new_tables(PESTO)  # the sizes of trees below are those of its searches
NO_LIMIT = (1 << 63) - 1
LOWEST, HIGHEST = -int(INFINITE), int(INFINITE)


@pytest.fixture
def root() -> Root:
    game = Game(TABLES)
    game.set_up(KIWIPETE)
    return Root(TABLES, game, game.legal_moves(), HashTable(1), np.zeros(1, np.uint64))


def prepared(root: Root, node_limit: int = NO_LIMIT) -> Deepening:
    thread = Deepening(root, new_record(WORKER))
    assert thread.nodes == 0
    thread.prepare(node_limit)
    return thread


def test_it_searches_depth_after_depth_and_says_which_is_done(root: Root) -> None:
    thread = prepared(root)
    assert (thread.depth, thread.completed) == (0, 0)
    for wanted, depth in enumerate(thread.iterations(5), 1):
        assert depth == thread.depth == thread.completed == wanted
        line = thread.line()
        assert (line.depth, line.bound) == (depth, Bound.EXACT)
        assert line.moves[0] in root.moves
        assert line.seldepth >= depth
    assert thread.completed == 5
    assert not thread.stopped
    assert 0 < thread.best_share < 1
    assert thread.nodes > 1000


def test_before_the_first_iteration_the_first_move_is_all_that_is_known(root: Root) -> None:
    assert prepared(root).line() == Line(1, 0, 0, Bound.EXACT, (root.moves[0],))


def test_a_thread_that_was_not_prepared_knows_nothing_of_the_last_search(root: Root) -> None:
    worker = new_record(WORKER)
    other = Game(TABLES)
    before = Deepening(Root(TABLES, other, other.legal_moves(), root.table, root.stop_flag), worker)
    before.prepare(2000)
    list(before.iterations(9))
    thread = Deepening(root, worker)
    assert thread.line() == Line(1, 0, 0, Bound.EXACT, (root.moves[0],))
    assert thread.expected_reply(thread.line()) == 0
    assert not thread.stopped


def test_the_stop_flag_ends_it_at_the_next_node(root: Root) -> None:
    root.stop_flag[0] = 1
    thread = prepared(root)
    assert list(thread.iterations(100)) == []
    assert (thread.stopped, thread.nodes) == (True, 1)
    root.stop_flag[0] = 0
    thread = prepared(root)
    for depth in thread.iterations(100):
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
    def stop() -> None:
        nonlocal before
        root.stop_flag[0] = 1
        before = thread.nodes

    before, thread = 0, prepared(root)
    for depth in thread.iterations(100, on_bound=stop):
        if depth == 6:
            thread._worker.root_moves[0].score += 200  # the next score will be outside its window
    assert (thread.stopped, thread.nodes) == (True, before + 1)


Window = tuple[int, int, int]


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> list[Window]:
    """Collect the windows that are searched, each with its depth."""
    searched: list[Window] = []

    def search_and_note(tables: Any, worker: Any) -> int:
        searched.append((int(worker.root_depth), int(worker.root_alpha), int(worker.root_beta)))
        return int(search_root(tables, worker))

    search_root = deepening.search_root
    monkeypatch.setattr(deepening, "search_root", search_and_note)
    return searched


def test_the_windows_are_open_first_and_widen_where_the_score_lies_outside(root: Root, windows: list[Window]) -> None:
    outside: list[int] = []
    thread = prepared(root)
    for depth in thread.iterations(7, on_bound=lambda: outside.append(thread.depth)):
        score = thread.line().score
        if depth == 5:
            thread._worker.root_moves[0].score = score + 200  # the next one will be lower
        if depth == 6:
            thread._worker.root_moves[0].score = low = score - 200
    assert [window for window in windows if window[0] < 5] == [(depth, LOWEST, HIGHEST) for depth in range(1, 5)]
    too_high, *_, last_of_sixth = (window for window in windows if window[0] == 6)
    too_low, *_, last = (window for window in windows if window[0] == 7)
    assert {6, 7} <= set(outside)
    assert len(windows) == 7 + len(outside)
    for _, alpha, beta in (too_high, too_low):
        assert beta - alpha == 2 * (12 + min(((alpha + beta) // 2) ** 2 // 5000, 60))
    assert (too_low[1] + too_low[2]) // 2 == low
    assert last_of_sixth[1] < score < last_of_sixth[2] <= too_high[1]
    assert last[1] < thread.line().score < last[2]
    assert last[1] >= too_low[1]


def test_what_a_move_has_proved_is_known_after_a_stop_in_the_next_window(root: Root) -> None:
    thread, proved = prepared(root), 0

    def stop() -> None:
        nonlocal proved
        if thread.depth == 7:
            proved = int(thread._worker.root_moves[0].score)
            thread._worker.node_limit = thread.nodes + 1

    for depth in thread.iterations(100, on_bound=stop):
        if depth == 6:
            thread._worker.root_moves[0].score = low = thread.line().score - 200  # the next one will be higher
    assert thread.stopped
    assert thread.line().score == proved > low


def test_a_mate_without_its_line_is_not_announced_after_a_stop(root: Root) -> None:
    root.game.set_up("7k/8/8/8/8/8/R7/1R2K3 w - - 0 1")  # a mate in two
    thread = prepared(replace(root, moves=root.game.legal_moves()))

    def stop() -> None:
        thread._worker.node_limit = thread.nodes + 1

    for depth in thread.iterations(6, on_bound=stop):
        if depth == 4:
            thread._worker.root_moves[0].score = 0  # so the next window ends at 12
    assert thread.stopped
    assert thread.line().score == 12


def test_a_mate_opens_the_window_at_once(root: Root, windows: list[Window]) -> None:
    root.game.set_up("7k/8/8/8/8/8/R7/1R2K3 w - - 0 1")  # a mate in two
    root = replace(root, moves=root.game.legal_moves())
    thread = prepared(root)
    for depth in thread.iterations(6):
        assert depth < 5 or thread.line().score == int(MATE) - 3
        if depth == 4:
            thread._worker.root_moves[0].score = 0
    assert [window for window in windows if window[0] >= 5] == [
        (5, -12, 12),
        (5, -12, HIGHEST),
        (6, LOWEST, HIGHEST),
    ]


def test_several_lines_come_best_first(root: Root) -> None:
    thread = prepared(root)
    assert list(thread.iterations(5, lines=4)) == [1, 2, 3, 4, 5]
    lines = [thread.line(index) for index in range(4)]
    assert len({line.moves[0] for line in lines}) == 4
    assert [line.score for line in lines] == sorted((line.score for line in lines), reverse=True)


def test_the_reply_to_expect_is_the_lines_own_if_it_has_one(root: Root) -> None:
    thread = prepared(root)
    assert list(thread.iterations(4)) == [1, 2, 3, 4]
    line = thread.line()
    assert thread.expected_reply(line) == line.moves[1]
