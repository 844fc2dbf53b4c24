"""The search of the root moves: scores, lines and their order, windows, excluded moves, stopping."""

from __future__ import annotations

import itertools

import chess
import numpy as np
import pytest
from core_helpers import NO_LIMIT, TABLES, new_game

from knightadder.core.api.search import deepen, start_search
from knightadder.core.search.transposition import (
    EXACT,
    INFINITE,
    LOWER,
    UPPER,
)
from knightadder.engine.game import Game
from knightadder.engine.hashtable import HashTable
from knightadder.engine.notation import to_uci
from knightadder.native.program import INTERPRETED

pytestmark = [pytest.mark.boundscheck, pytest.mark.nojit]

KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
WIDE = int(INFINITE)
DEPTH = 2 if INTERPRETED else 7


class Root:
    """A position ready to be searched, with a table of 1 MB."""

    def __init__(self, fen: str | None = None) -> None:
        self.game: Game = new_game(fen)
        self.worker = self.game.record
        self.table = HashTable(1)
        self.stop_flag = np.zeros(1, np.uint64)
        self.worker.tt_address, self.worker.tt_buckets = self.table.address, self.table.buckets
        self.worker.stop_address = self.stop_flag.ctypes.data
        self.moves = self.game.legal_moves()
        self.keep(self.moves)

    def keep(self, moves: list[int]) -> None:
        """Search only some moves."""
        for root_move, move in zip(self.worker.root_moves, moves, strict=False):
            root_move.move = move
        start_search(self.worker, len(moves), NO_LIMIT)

    def search(self, depth: int = DEPTH, alpha: int = -WIDE, beta: int = WIDE, line: int = 0) -> int:
        """Search one window, and give the score of the best move."""
        worker = self.worker
        worker.root_depth, worker.pv_index, worker.root_alpha, worker.root_beta = depth, line, alpha, beta
        worker.widened = 1  # so the iteration goes on with this window
        for root_move in worker.root_moves[: worker.root_count]:
            root_move.previous_score = root_move.score
        deepen(TABLES, worker, depth, depth, line + 1, NO_LIMIT, 0, 1)
        return int(worker.root_moves[int(worker.pv_index)].score)

    def order(self) -> list[int]:
        return [int(root_move.move) for root_move in self.worker.root_moves[: self.worker.root_count]]

    def line(self, index: int = 0) -> list[str]:
        root_move = self.worker.root_moves[index]
        return [to_uci(int(move)) for move in root_move.pv[: root_move.pv_length]]


def test_the_best_move_comes_to_the_front_with_its_line() -> None:
    root = Root(KIWIPETE)
    score = root.search()
    best = root.worker.root_moves[0]
    assert (best.score, best.bound) == (score, EXACT)
    assert root.line()[0] == to_uci(int(best.move))
    board = chess.Board(KIWIPETE)
    for name in root.line():
        board.push_uci(name)
    assert len(root.line()) >= min(DEPTH, 3)
    # Those that were the best before come next, the latest first; the others keep their order.
    scores = [int(root_move.score) for root_move in root.worker.root_moves[: root.worker.root_count]]
    been_best = sum(known > -INFINITE for known in scores)
    assert scores[:been_best] == sorted(set(scores[:been_best]), reverse=True)
    assert root.order()[been_best:] == [move for move in root.moves if move not in root.order()[:been_best]]
    assert score == scores[0]
    assert sum(int(move.nodes) for move in root.worker.root_moves[: len(root.moves)]) + 1 == root.worker.nodes


@pytest.mark.parametrize(("score", "more"), [(0, 0), (-300, 18), (2000, 60)])
def test_the_window_is_wider_around_a_large_score(score: int, more: int) -> None:
    root = Root()
    root.worker.root_moves[0].score = score
    root.stop_flag[0] = 1  # so nothing is searched in it
    assert deepen(TABLES, root.worker, 5, 5, 1, NO_LIMIT, 0, 1) == 4
    assert (root.worker.root_alpha, root.worker.root_beta) == (score - 12 - more, score + 12 + more)


def test_a_window_above_the_score_fails_low() -> None:
    root = Root()
    assert root.search(alpha=5000, beta=5001) <= 5000
    assert root.worker.root_moves[0].bound == UPPER
    assert root.order() == root.moves


def test_a_window_below_the_score_fails_high() -> None:
    root = Root()
    assert root.search(alpha=-5001, beta=-5000) >= -5000
    assert root.worker.root_moves[0].bound == LOWER


def test_only_the_moves_listed_are_searched() -> None:
    root = Root("7k/8/8/3q4/4P3/8/8/K7 w - - 0 1")
    [quiet] = [move for move in root.moves if to_uci(move) == "a1b1"]
    root.keep([quiet])
    assert root.search() < -300  # the queen may not be taken
    assert root.order() == [quiet]


def test_further_lines_leave_out_the_moves_before_them() -> None:
    root = Root(KIWIPETE)
    first = root.search()
    best = root.order()[0]
    second = root.search(line=1)
    # A line that is found later can be better: its search profits from what the first has left in the tables.
    found = root.worker.root_moves[int(root.worker.pv_index)]
    assert (found.move != best, found.score, found.bound) == (True, second, EXACT)
    lines = root.worker.root_moves[:2]
    assert {int(line.move) for line in lines} == {best, int(found.move)}
    assert [int(line.score) for line in lines] == sorted((first, second), reverse=True)
    assert sorted(root.order()) == sorted(root.moves)
    assert [root.line(i)[0] for i in range(2)] == [to_uci(int(line.move)) for line in lines]


def test_a_mate_and_a_stalemate_among_the_moves() -> None:
    root = Root("7k/8/5K2/8/8/8/8/6Q1 w - - 0 1")
    assert root.search(2) == WIDE - 2  # one ply to go: the mated side's score is one below the greatest
    assert root.line() == ["g1g7"]
    stalemate = Root("7k/8/6K1/8/8/8/8/5Q2 w - - 0 1")
    stalemate.keep([move for move in stalemate.moves if to_uci(move) == "f1f7"])
    assert stalemate.search(2) == 0


def test_a_raised_flag_stops_it_soon() -> None:
    root = Root(KIWIPETE)
    root.stop_flag[0] = 1
    root.search(DEPTH if INTERPRETED else 30)
    if not INTERPRETED:  # two plies end before the flag is looked at
        assert root.worker.stopped
    assert root.worker.nodes <= 1024 or INTERPRETED
    assert sorted(root.order()) == sorted(root.moves)


@pytest.mark.parametrize("limit", [1, 2, 50, 200] if INTERPRETED else [1, 2, 50, 1000, 20_000])
def test_a_stop_in_midst_of_an_iteration_loses_no_move(limit: int) -> None:
    root = Root(KIWIPETE)
    root.worker.node_limit = limit
    depth = 1
    while not root.worker.stopped:
        root.search(depth)
        depth += 1
    assert root.worker.nodes == limit
    assert sorted(root.order()) == sorted(root.moves)
    if limit > 100:
        board = chess.Board(KIWIPETE)
        for name in root.line():
            board.push_uci(name)


def test_a_better_move_found_before_a_stop_stays_in_front() -> None:
    # Whatever a stop leaves undone: the moves that this iteration has scores for come first, the best in front.
    known = []
    limits = range(20, 200, 20) if INTERPRETED else range(100, 3000, 100)
    for fen, limit in itertools.product([KIWIPETE, None], limits):
        root = Root(fen)
        root.worker.node_limit = limit
        depth = 1
        while not root.worker.stopped:
            root.search(depth)
            depth += 1
        scores = [int(move.score) for move in root.worker.root_moves[: root.worker.root_count]]
        found = [score for score in scores if score > -WIDE]
        assert scores[: len(found)] == found == sorted(found, reverse=True)
        known.append(len(found))
    assert max(known) > 1


@pytest.mark.skipif(INTERPRETED, reason="too shallow to leave much in the table")
def test_a_second_search_profits_from_the_table() -> None:
    nodes = []
    for keep in (True, False):
        root = Root(KIWIPETE)
        root.search(4)  # so that no entry is deep enough to make search test whether its move is singular
        if not keep:
            root.table.clear()
        root.worker.nodes = 0
        root.search(4)
        nodes.append(int(root.worker.nodes))
    assert nodes[0] < 0.8 * nodes[1]


def test_only_moves_of_the_first_rank_are_searched() -> None:
    root = Root(KIWIPETE)
    wanted, others = root.moves[1:4], [root.moves[0], *root.moves[4:]]
    order = wanted + others
    root.keep(order)
    for root_move in root.worker.root_moves[:3]:
        root_move.rank = 1
    root.search()
    searched = [int(move.move) for move in root.worker.root_moves[: len(order)] if move.nodes]
    assert sorted(searched) == sorted(wanted)
    assert root.order()[0] in wanted
    root.search(line=len(wanted))
    searched = [int(move.move) for move in root.worker.root_moves[: len(order)] if move.nodes]
    assert sorted(searched) == sorted(order)
    assert set(root.order()[: len(wanted)]) == set(wanted)
