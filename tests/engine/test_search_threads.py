"""A search with several threads: how they work together, and that none can cost the game."""

import math
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import chess
import pytest
from searcher import (
    DEAD,
    KIWIPETE,
    MATE_IN_ONE,
    MATE_IN_TWO,
    MATED_IN_ONE,
    TIMEOUT,
    Listener,
    Searcher,
    check_lines,
    eventually,
    legal,
)

from knightadder.core.search.nodes import NODES_TAKEN
from knightadder.engine import engine, running_search, search_clock, search_thread, threads
from knightadder.engine.errors import OptionError
from knightadder.engine.hashtable import HashTable
from knightadder.engine.info import Message
from knightadder.engine.limits import Limits
from knightadder.engine.notation import to_uci
from knightadder.engine.search_thread import SearchThread

THREADS = 4


@pytest.fixture
def team(searcher: Searcher, on_large_machine: None) -> Searcher:
    """Give an engine with several threads."""
    assert searcher.engine.set_option("Threads", str(THREADS)) == []
    return searcher


def threads_of(searcher: Searcher) -> list[SearchThread]:
    """Give the threads of the last search, the main one first."""
    last = searcher.engine._search
    assert last is not None
    return [last._main, *last._helpers]


def check_answer(listener: Listener, fen: str | None) -> None:
    """Check that the best move and the reply to it are legal, and that the last line begins with them."""
    result = listener.result
    assert result.info == listener.infos[-1]
    assert result.best_move == listener.infos[-1].pv[0]
    board = chess.Board(fen or chess.STARTING_FEN)
    board.push_uci(listener.infos[-1].pv[0])
    if result.ponder is not None:
        board.push_uci(result.ponder)
        assert listener.infos[-1].pv[1:2] in ((), (result.ponder,))


def check_team_lines(listener: Listener, fen: str | None) -> None:
    """Check all lines; the last by itself, because the line of a helper that was chosen may come from a lower depth."""
    check_lines(listener.infos[:-1], fen, full_mates=False)
    check_lines(listener.infos[-1:], fen, full_mates=False)


def only_in(name: str, instead: Callable[..., int]) -> Callable[..., int]:
    """Give a deepening that behaves otherwise in the threads whose name begins like this."""
    deepen = search_thread.deepen

    def search_or_not(tables: Any, worker: Any, depth: int, *rest: int) -> int:
        if threading.current_thread().name.startswith(name):
            return instead(tables, worker, depth, *rest)
        return int(deepen(tables, worker, depth, *rest))

    return search_or_not


def breaks(tables: Any, worker: Any, depth: int, *rest: int) -> int:
    raise RuntimeError("broken")


def none_called(name: str) -> Callable[[threading.Thread], None]:
    """Give a `Thread.start` that fails for threads of this name."""
    start = threading.Thread.start

    def start_others(thread: threading.Thread) -> None:
        if thread.name == name:
            raise RuntimeError("can't start new thread")
        start(thread)

    return start_others


# --- What is searched and reported ------------------------------------------------------------------------------------


@pytest.mark.parametrize("fen", [None, KIWIPETE, MATE_IN_ONE, MATE_IN_TWO, MATED_IN_ONE, DEAD])
@pytest.mark.parametrize("limits", [Limits(depth=8), Limits(nodes=50_000), Limits(movetime=60), Limits(wtime=900)])
def test_lines_are_sound_and_the_last_begins_with_the_best_move(
    team: Searcher, limits: Limits, fen: str | None
) -> None:
    listener = team.search(limits, fen)
    check_answer(listener, fen)
    check_team_lines(listener, fen)


@pytest.mark.parametrize("nodes", [1, 3, 4, 5, 1000, 10_000, 50_000])
def test_a_node_limit_is_kept_and_used_up_by_all_together(team: Searcher, nodes: int) -> None:
    listener = team.search(Limits(nodes=nodes), KIWIPETE)
    check_answer(listener, KIWIPETE)
    check_team_lines(listener, KIWIPETE)
    assert max(nodes - THREADS * NODES_TAKEN, 0) < listener.infos[-1].nodes <= nodes


def test_a_search_to_a_depth_ends_with_the_main_threads_line(team: Searcher, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_clock, "_SHOW_DETAILS_AFTER", math.inf)  # on a slow machine bounds would be told, too
    listener = team.search(Limits(depth=7), KIWIPETE)
    assert [info.depth for info in listener.infos] == list(range(1, 8))
    assert listener.result.best_move == listener.infos[-1].pv[0]
    team.engine.set_option("MultiPV", "3")
    listener = team.search(Limits(depth=6), KIWIPETE)
    assert [(info.depth, info.multipv) for info in listener.infos] == [(d, n) for d in range(1, 7) for n in (1, 2, 3)]
    assert listener.result.best_move == listener.infos[-3].pv[0]


def test_search_moves_are_kept_to_by_all(team: Searcher) -> None:
    wanted = ("a2a3", "h2h3", "b2b3")
    team.search(Limits(nodes=40_000, searchmoves=wanted))
    for thread in threads_of(team):
        if thread.completed:
            assert to_uci(thread.line().moves[0]) in wanted


# --- The vote ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chosen", range(THREADS))
@pytest.mark.parametrize("fen", [None, KIWIPETE])
def test_the_line_of_the_thread_that_wins_the_vote_is_told_and_played(
    team: Searcher, monkeypatch: pytest.MonkeyPatch, chosen: int, fen: str | None
) -> None:
    team.engine.set_position(fen)
    first = team.engine._game.legal_moves()[0]

    def other_move(tables: Any, worker: Any, depth: int, *rest: int) -> int:
        """Find another best move in each helper, and nothing to follow it."""
        number = int(threading.current_thread().name.split()[1])
        if worker.root_moves[0].move == first:
            worker.root_moves[[0, number]] = worker.root_moves[[number, 0]]
        worker.root_moves[0].score, worker.root_moves[0].bound = number, 3
        worker.root_depth = depth
        return depth

    monkeypatch.setattr(search_thread, "deepen", only_in("search ", other_move))
    monkeypatch.setattr(running_search, "vote", lambda lines: chosen)
    listener = team.start(Limits(infinite=True), fen)
    running = team.engine._search
    assert running is not None
    eventually(lambda: running._main.completed and None not in running._helper_lines)
    team.engine.stop()
    check_answer(listener, fen)
    assert team.engine.wait(TIMEOUT)
    line = threads_of(team)[chosen].line()
    result = listener.result
    assert result.best_move == to_uci(line.moves[0])
    assert result.info is not None
    assert result.info.score.cp == line.score
    if chosen:
        assert line.score == chosen + 1
        assert result.best_move == team.engine.legal_moves()[chosen + 1]


# --- How it ends ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, THREADS])
def test_stop_and_ponder_hit_at_any_moment_give_one_legal_move(searcher: Searcher, count: int) -> None:
    engine = searcher.engine
    engine.set_option("Threads", str(count))
    moves = legal(KIWIPETE)
    for cycle in range(120):
        engine.set_position(KIWIPETE)
        listener = searcher.go(
            (Limits(infinite=True), Limits(ponder=True, wtime=50, btime=50), Limits(wtime=1))[cycle % 3]
        )
        if cycle % 4 == 1:
            engine.ponderhit()
        if cycle % 5 == 2:
            listener.done.wait(0.002)
        engine.stop()
        assert listener.result.best_move in moves
        check_answer(listener, KIWIPETE)
        assert engine.wait(TIMEOUT)
        assert not [thread for thread in threading.enumerate() if thread.name.startswith("search ")]


def test_a_stop_before_the_first_iteration_ends_waits_for_it(
    searcher: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_clock, "_GRACE", TIMEOUT)
    asked = threading.Event()

    def first_asks(tables: Any, worker: Any, depth: int, *rest: int) -> int:
        assert asked.wait(TIMEOUT)
        return int(deepen(tables, worker, depth, *rest))

    deepen = search_thread.deepen
    monkeypatch.setattr(search_thread, "deepen", first_asks)
    listener = searcher.start(Limits(infinite=True), MATE_IN_ONE)
    searcher.engine.stop()
    asked.set()
    assert listener.result.best_move == "a1a8"
    assert [info.depth for info in listener.infos] == [1]


@pytest.mark.parametrize("limits", [Limits(infinite=True), Limits(movetime=30)])
def test_a_first_iteration_that_takes_long_is_stopped(
    searcher: Searcher, monkeypatch: pytest.MonkeyPatch, limits: Limits
) -> None:
    def endless(tables: Any, worker: Any, depth: int, *rest: int) -> int:
        eventually(lambda: running._stop_flag[0])
        return int(deepen(tables, worker, depth, *rest))

    deepen = search_thread.deepen
    monkeypatch.setattr(search_thread, "deepen", endless)
    searcher.engine.set_position(KIWIPETE)
    listener = Listener()
    running = searcher.engine._new_search(searcher.engine._table, limits, listener.on_report, listener.on_done)
    running.start()
    if limits.infinite:
        running.stop()
    assert listener.result.best_move in legal(KIWIPETE)
    running.wait()


@pytest.mark.parametrize("limits", [Limits(movetime=60), Limits(wtime=300), Limits(ponder=True, wtime=300)])
def test_a_search_on_a_clock_does_not_wait_for_the_hash_table_to_be_cleared(
    team: Searcher, monkeypatch: pytest.MonkeyPatch, limits: Limits
) -> None:
    team.engine.set_position(KIWIPETE)
    with monkeypatch.context() as patch:
        patch.setattr(HashTable, "wait", lambda table, timeout=None: False)
        listener = team.go(limits)
        if limits.ponder:
            listener.wait_for_lines(2)
            team.engine.ponderhit()
        check_answer(listener, KIWIPETE)
        assert team.engine.wait(TIMEOUT)


def test_a_search_without_a_clock_waits_for_the_hash_table_or_for_a_stop(
    team: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = 0

    def look(table: HashTable, timeout: float | None = None) -> bool:
        nonlocal looks
        looks += 1
        return looks > 5

    team.engine.set_position(KIWIPETE)
    with monkeypatch.context() as patch:
        patch.setattr(HashTable, "wait", look)
        assert team.go(Limits(depth=3)).result.best_move in legal(KIWIPETE)
        assert looks > 5
        assert team.engine.wait(TIMEOUT)
        patch.setattr(HashTable, "wait", lambda table, timeout=None: False)
        listener = team.go(Limits(depth=20))
        assert not listener.infos
        team.engine.stop()
        check_answer(listener, KIWIPETE)
        assert team.engine.wait(TIMEOUT)


# --- When something goes wrong ----------------------------------------------------------------------------------------


def test_a_helper_that_fails_is_told_of_and_costs_nothing_else(team: Searcher, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_thread, "deepen", only_in("search ", breaks))
    listener = team.start(Limits(infinite=True), KIWIPETE)
    failure = Message("a search thread failed: RuntimeError('broken')")
    listener.wait_for(lambda: listener.reports.count(failure) == THREADS - 1)
    listener.wait_for_lines(2)
    team.engine.stop()
    check_answer(listener, KIWIPETE)
    assert [report for report in listener.reports if isinstance(report, Message)] == [failure] * (THREADS - 1)
    assert listener.infos[-1].nodes == threads_of(team)[0].nodes
    assert listener.infos[-1].depth > 1


def test_when_the_main_thread_fails_the_helpers_answer(team: Searcher, monkeypatch: pytest.MonkeyPatch) -> None:
    deepen = search_thread.deepen

    def breaks_late(tables: Any, worker: Any, depth: int, *rest: int) -> int:
        if threading.current_thread().name != "search":
            return int(deepen(tables, worker, depth, *rest))
        eventually(lambda: min(helper.completed for helper in threads_of(team)[1:]) >= 3)
        raise RuntimeError("broken")

    monkeypatch.setattr(search_thread, "deepen", breaks_late)
    listener = team.start(Limits(infinite=True), MATE_IN_ONE)
    listener.wait_for(lambda: Message("search failed: RuntimeError('broken')") in listener.reports)
    team.engine.stop()
    assert listener.result.best_move == "a1a8"
    check_answer(listener, MATE_IN_ONE)


def test_fewer_threads_are_used_when_the_system_gives_no_more(team: Searcher, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading.Thread, "start", none_called("search 3"))
    listener = team.start(Limits(infinite=True), KIWIPETE)
    listener.wait_for(lambda: Message("only 2 search threads could be started") in listener.reports)
    team.engine.stop()
    check_answer(listener, KIWIPETE)


def test_without_a_clock_a_timed_search_ends_at_once(team: Searcher, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading.Thread, "start", none_called("clock"))
    failure = Message("no thread could be started to watch the clock")
    listener = team.search(Limits(movetime=10**9), KIWIPETE)
    assert failure in listener.reports
    check_answer(listener, KIWIPETE)
    listener = team.start(Limits(infinite=True), KIWIPETE)
    listener.wait_for_lines(3)
    team.engine.stop()
    check_answer(listener, KIWIPETE)


@pytest.mark.parametrize(
    ("limits", "ends"),
    [
        (Limits(movetime=10**9), []),
        (Limits(infinite=True), ["stop"]),
        (Limits(ponder=True, movetime=10**9), ["ponderhit"]),
        (Limits(ponder=True, movetime=10**9), ["stop"]),
        (Limits(ponder=True, infinite=True), ["ponderhit", "stop"]),
    ],
)
def test_without_a_search_thread_a_legal_move_is_played_as_soon_as_it_may_be(
    team: Searcher, monkeypatch: pytest.MonkeyPatch, limits: Limits, ends: list[str]
) -> None:
    monkeypatch.setattr(threading.Thread, "start", none_called("search"))
    monkeypatch.setattr(threads, "_kept", [])
    listener = team.start(limits, KIWIPETE)
    assert listener.reports[0] == Message("no search thread could be started")
    for command in ends:
        assert team.engine.searching and not listener.results
        getattr(team.engine, command)()
    assert listener.result.best_move in legal(KIWIPETE)
    assert team.engine.wait() and not team.engine.searching
    for command in ("stop", "ponderhit"):
        getattr(team.engine, command)()
    assert len(listener.results) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_fork_searches_with_threads_of_its_own() -> None:
    script = """
import os
import chess, chess.engine
from knightadder import Engine
engine, limit = Engine(), chess.engine.Limit(depth=1)
engine.analyse("startpos", limit)
child = os.fork()
engine.analyse("startpos", limit)
if child == 0:
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, timeout=TIMEOUT
    )
    assert (done.stdout, done.stderr) == ("7\n", "")


# --- The threads' memory ----------------------------------------------------------------------------------------------


def test_the_number_of_threads_can_change_between_searches(searcher: Searcher, on_large_machine: None) -> None:
    for count in (3, 20, 2, 1):
        searcher.engine.set_option("Threads", str(count))
        listener = searcher.search(Limits(nodes=20_000), KIWIPETE)
        check_answer(listener, KIWIPETE)
        assert len(threads_of(searcher)) == count


def test_no_more_threads_search_than_there_are_processors(searcher: Searcher, monkeypatch: pytest.MonkeyPatch) -> None:
    said = []
    for count in 1, 2, 8:
        monkeypatch.setattr(engine, "processors", lambda count=count: count)
        said += searcher.engine.set_option("Threads", "4")
        assert searcher.engine.options.threads == 4
        check_answer(searcher.search(Limits(nodes=20_000), KIWIPETE), KIWIPETE)
        assert len(threads_of(searcher)) == min(count, 4)
    reason = "will search, because this process may use only that many processors"
    assert said == [f"1 thread {reason}", f"2 threads {reason}"]


def test_too_little_memory_for_the_threads_leaves_them_as_they_are(
    team: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_memory(*arguments: object) -> None:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(engine, "new_record", no_memory)
        with pytest.raises(OptionError, match=r"^not enough memory for 500 threads$"):
            team.engine.set_option("Threads", "500")
    assert team.engine.options.threads == THREADS
    assert team.search(Limits(depth=5)).result.best_move in legal(None)
