"""A search: when it ends, what it reports and what it answers."""

import io
import math
import sys
import threading
from dataclasses import replace
from itertools import pairwise
from typing import Any

import chess
import pytest
from searcher import (
    CHECKMATE,
    DEAD,
    KIWIPETE,
    MATE_IN_ONE,
    MATE_IN_TWO,
    MATED_IN_ONE,
    STALEMATE,
    TIMEOUT,
    Clock,
    Searcher,
    check_lines,
    eventually,
    legal,
)

from knightadder.core.layout import MAX_DEPTH
from knightadder.engine import running_search, search_clock, search_thread
from knightadder.engine.info import Bound, CurrentMove, Info, Message, Result, Score
from knightadder.engine.limits import Limits
from knightadder.engine.timeman import Progress, TimeBudget

PAWN_ENDING = "8/8/8/8/8/1K6/1P6/6k1 w - - 0 1"  # won, by the tables that come with the engine

# --- What is reported -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fen", "moves"),
    [
        (None, ()),
        (KIWIPETE, ()),
        (MATE_IN_TWO, ()),
        (MATED_IN_ONE, ()),
        (DEAD, ()),
        (None, ("g1f3", "g8f6", "f3g1", "f6g8") * 2),
        ("8/8/8/4k3/8/8/8/R3K3 w - - 97 90", ()),
        ("8/P6k/8/8/8/8/8/K7 w - - 0 1", ()),
    ],
)
def test_lines_are_sound_and_the_last_begins_with_the_best_move(
    searcher: Searcher, fen: str | None, moves: tuple[str, ...]
) -> None:
    for limits in (Limits(depth=8), Limits(nodes=3000), Limits(nodes=30_000), Limits(movetime=40)):
        listener = searcher.search(limits, fen, moves)
        check_lines(listener.infos, fen, moves, full_mates=limits.movetime is None)
        last = listener.infos[-1]
        assert listener.result.info == last
        assert listener.result.best_move == last.pv[0]


@pytest.mark.parametrize(("fen", "score"), [(CHECKMATE, Score(mate=0)), (STALEMATE, Score(cp=0))])
def test_the_score_of_a_finished_game_is_reported(searcher: Searcher, fen: str, score: Score) -> None:
    listener = searcher.search(Limits(depth=3), fen)
    assert [(info.score, info.pv) for info in listener.infos] == [(score, ())]
    assert listener.result.best_move is None


def test_several_lines_come_best_first_with_different_moves(searcher: Searcher) -> None:
    searcher.engine.set_option("MultiPV", "4")
    listener = searcher.search(Limits(depth=7), KIWIPETE)
    by_depth: dict[int, list[Info]] = {}
    for info in listener.infos:
        by_depth.setdefault(info.depth, []).append(info)
    assert list(by_depth) == list(range(1, 8))
    for infos in by_depth.values():
        assert [info.multipv for info in infos] == [1, 2, 3, 4]
        assert len({info.pv[0] for info in infos}) == 4
        scores = [info.score.cp for info in infos]
        assert None not in scores
        assert scores == sorted(scores, key=lambda cp: -(cp or 0))
    assert listener.result.best_move == listener.infos[-4].pv[0]
    # Fewer moves than lines asked for.
    assert {info.multipv for info in searcher.search(Limits(depth=4), MATED_IN_ONE).infos} == {1}


@pytest.mark.parametrize("lines", [3, 30])
def test_a_proved_mate_is_the_first_of_several_lines(searcher: Searcher, lines: int) -> None:
    searcher.engine.set_option("MultiPV", str(lines))
    fen = "2rr3k/pp3pp1/1nnqbN1p/3pN3/2pP4/2P3Q1/PPB4P/R4RK1 w - - 0 1"
    listener = searcher.search(Limits(mate=2, nodes=20_000), fen)
    last = listener.infos[-lines:]
    assert [info.multipv for info in last] == list(range(1, lines + 1))
    assert last[0].pv == ("g3g6", "f7g6", "e5g6")
    assert last[0].score.mate == 2
    assert all(info.score.mate is None for info in last[1:3])
    assert len({info.pv[0] for info in last}) == lines
    assert listener.result.best_move == "g3g6"


def test_a_stop_among_several_lines_leaves_them_in_order(searcher: Searcher) -> None:
    searcher.engine.set_option("MultiPV", "4")
    limited = 0
    for nodes in range(5000, 40_000, 997):
        listener = searcher.search(Limits(nodes=nodes), KIWIPETE)
        last = listener.infos[-4:]
        assert [info.multipv for info in last] == [1, 2, 3, 4]
        assert len({info.pv[0] for info in last}) == 4
        assert {info.nodes for info in last} == {nodes}
        assert (last[0].pv[0], last[0].bound) == (listener.result.best_move, Bound.EXACT)
        scores = [info.score.cp for info in last]
        assert None not in scores
        assert scores == sorted(scores, key=lambda cp: -(cp or 0))
        for above, info in pairwise(last):
            if info.bound is Bound.UPPER and info.score == above.score:  # worth more in the iteration before
                assert info.depth < last[0].depth
                limited += 1
    assert limited
    (only,) = searcher.search(Limits(nodes=3), KIWIPETE).infos  # nothing is known of the others
    assert only.multipv == 1


@pytest.mark.parametrize(
    ("fen", "lines", "nodes"),
    [
        # The stop comes while the second line is searched, and a third move has turned out better than the first line.
        ("rnbqkbnr/pppppppp/8/8/8/5N2/PPPPPPPP/RNBQKB1R b KQkq - 1 1", 3, range(600, 900, 10)),
        # The stop comes after a new first move has failed high, and all other scores are of the iteration before.
        ("rnbqkbnr/1ppppppp/p7/8/7P/8/PPPPPPPR/RNBQKBN1 b Qkq - 1 2", 4, range(2000, 4000, 50)),
    ],
)
def test_a_stop_before_the_lines_are_sorted_leaves_them_in_order(
    searcher: Searcher, fen: str, lines: int, nodes: range
) -> None:
    searcher.engine.set_option("MultiPV", str(lines))
    for limit in nodes:
        searcher.engine.new_game()
        last = searcher.search(Limits(nodes=limit), fen).infos[-lines:]
        assert [info.multipv for info in last] == [*range(1, lines + 1)]
        scores = [info.score.cp or 0 for info in last]
        assert scores == sorted(scores, reverse=True), limit


@pytest.mark.parametrize(
    ("fen", "nodes"),
    [
        ("1rbqk1nr/ppp2ppp/n3p3/3p4/1b4PP/N4P2/PPPPP1B1/R1BQK1NR w KQk - 0 6", 1000),
        ("r1bqkbnr/pppppp2/2n4p/1P4p1/3P4/8/P1P1PPPP/RNBQKBNR w KQkq - 1 4", 1000),
        ("rnb2knr/2pp1pp1/p3p2p/6B1/PpN5/6P1/RPP1PPBR/3QK1N1 w - - 1 11", 2500),
        ("rnbqk2r/p1ppbnBp/8/1pP1ppp1/P4P1P/1P1P4/4P1P1/RN1QKBNR b KQkq - 0 10", 3500),
    ],
)
def test_a_line_that_got_worse_before_a_stop_limits_no_lines_that_were_not_tried(
    searcher: Searcher, fen: str, nodes: int
) -> None:
    searcher.engine.set_option("MultiPV", "4")
    searcher.engine.new_game()
    last = searcher.search(Limits(nodes=nodes), fen).infos[-4:]
    searcher.engine.set_option("MultiPV", "256")
    searcher.engine.new_game()
    complete = searcher.search(Limits(depth=last[0].depth), fen).infos
    scores = {info.pv[0]: info.score.cp or 0 for info in complete if info.depth == last[0].depth}
    for info in last[1:]:
        if info.bound is Bound.UPPER and info.score.cp is not None:
            assert scores[info.pv[0]] <= info.score.cp + 30, info  # the other search prunes differently


def test_the_last_line_of_a_search_that_was_stopped_has_the_best_move_and_no_bound(searcher: Searcher) -> None:
    for nodes in range(1000, 60_000, 997):
        listener = searcher.search(Limits(nodes=nodes), KIWIPETE)
        last = listener.infos[-1]
        assert (last.pv[0], last.bound) == (listener.result.best_move, Bound.EXACT)


def test_a_stop_before_other_moves_were_tried_announces_no_mate_without_its_line(searcher: Searcher) -> None:
    fen = "2R5/1p3ppk/7p/1b6/1Q3p2/P3q3/6PP/3r2BK w - - 2 26"  # White will be mated, after many checks
    for nodes in range(2000, 12_000, 250):
        check_lines(searcher.search(Limits(nodes=nodes), fen).infos, fen)


def test_wins_draws_and_losses_are_told_on_demand(searcher: Searcher) -> None:
    assert all(info.wdl is None for info in searcher.search(Limits(depth=3)).infos)
    searcher.engine.set_option("UCI_ShowWDL", "true")
    for info in searcher.search(Limits(depth=3)).infos:
        assert info.wdl is not None
        assert sum(info.wdl) == 1000
    assert searcher.search(Limits(mate=2, depth=20), MATE_IN_TWO).infos[-1].wdl == (1000, 0, 0)


@pytest.mark.parametrize("limits", [Limits(infinite=True), Limits(depth=200), Limits(nodes=2**62)])
def test_the_current_move_is_told_in_a_long_search(searcher: Searcher, clock: Clock, limits: Limits) -> None:
    listener = searcher.start(limits, KIWIPETE)
    listener.wait_for_lines(3)
    assert not any(isinstance(report, CurrentMove) for report in listener.reports)
    clock.advance(searcher.engine, search_clock._SHOW_DETAILS_AFTER + 1)
    listener.wait_for(lambda: any(isinstance(report, CurrentMove) for report in listener.reports))
    searcher.engine.stop()
    assert listener.result.best_move in legal(KIWIPETE)
    for report in listener.reports:
        if isinstance(report, CurrentMove):
            assert report.move in legal(KIWIPETE)
            assert 1 <= report.number <= 48
    assert isinstance(listener.reports[-1], Info)


def test_the_current_move_is_told_again_each_second(
    searcher: Searcher, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    deepen, released = search_thread.deepen, threading.Event()

    def waits(tables: object, worker: Any, depth: int, *rest: int) -> int:
        if depth == 6:
            assert released.wait(TIMEOUT)
        return int(deepen(tables, worker, depth, *rest))

    monkeypatch.setattr(search_thread, "deepen", waits)
    listener = searcher.start(Limits(infinite=True), KIWIPETE)
    listener.wait_for(lambda: listener.infos and listener.infos[-1].depth == 5)
    clock.advance(searcher.engine, 3)
    for _ in range(4):
        clock.advance(searcher.engine, 1)
    released.set()
    searcher.engine.stop()
    assert listener.result.best_move in legal(KIWIPETE)
    told = {report.time_ms // 1000 for report in listener.reports if isinstance(report, CurrentMove)}
    assert told >= {4, 5, 6, 7}


def test_no_current_move_comes_between_the_lines_of_an_iteration(
    searcher: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_clock, "_SHOW_DETAILS_AFTER", 0.0)
    searcher.engine.set_option("MultiPV", "3")
    separated = threading.Event()
    inside = False

    def report(news: Info | CurrentMove | Message) -> None:
        nonlocal inside
        if isinstance(news, CurrentMove) and inside:
            separated.set()
        elif isinstance(news, Info):
            inside = news.multipv < 3
            if news.depth == 3 and news.multipv == 1:
                separated.wait(3 * search_clock.TICK)

    searcher.engine.go(Limits(movetime=1000, depth=8), report, lambda result: None)
    assert searcher.engine.wait(TIMEOUT)
    assert not separated.is_set()


def test_there_is_no_current_move_after_the_end_of_the_game(searcher: Searcher, clock: Clock) -> None:
    mated = searcher.start(Limits(infinite=True), CHECKMATE)
    clock.advance(searcher.engine, search_clock._SHOW_DETAILS_AFTER + 1)
    searcher.engine.stop()
    assert mated.result.best_move is None
    assert not any(isinstance(report, CurrentMove) for report in mated.reports)


# --- When a search ends -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fen", [MATE_IN_ONE, CHECKMATE, KIWIPETE])
@pytest.mark.parametrize(
    "limits", [Limits(), Limits(infinite=True, depth=1), Limits(ponder=True, wtime=1, btime=1), Limits(ponder=True)]
)
def test_the_result_is_held_back_until_stop(
    searcher: Searcher, held: threading.Event, clock: Clock, monkeypatch: pytest.MonkeyPatch, fen: str, limits: Limits
) -> None:
    monkeypatch.setattr(running_search, "MAX_DEPTH", 4)  # so that nothing is left to find
    listener = searcher.start(limits, fen)
    assert held.wait(TIMEOUT)
    clock.advance(searcher.engine, 3600)
    assert not listener.done.is_set()
    searcher.engine.stop()
    assert (listener.result.best_move or "none") in (legal(fen) or {"none"})
    assert searcher.engine.wait(TIMEOUT)
    assert len(listener.results) == 1


@pytest.mark.parametrize(
    ("limits", "ends"),
    [
        (Limits(ponder=True, wtime=60, btime=60), True),
        (Limits(ponder=True, movetime=30), True),
        (Limits(ponder=True, depth=2), True),
        (Limits(ponder=True, nodes=100), True),
        (Limits(ponder=True), False),
        (Limits(ponder=True, infinite=True), False),
    ],
)
@pytest.mark.parametrize("fen", [KIWIPETE, MATE_IN_ONE, CHECKMATE])
def test_after_a_ponder_hit_the_limits_count(
    searcher: Searcher, clock: Clock, limits: Limits, ends: bool, fen: str
) -> None:
    listener = searcher.start(limits, fen)
    clock.advance(searcher.engine, 3600)  # longer than any of them has
    assert not listener.done.is_set()
    searcher.engine.ponderhit()
    clock.advance(searcher.engine, 3600)
    if not ends:
        assert not listener.done.is_set()
        searcher.engine.ponderhit()  # a second one changes nothing
        searcher.engine.stop()
    assert (listener.result.best_move or "none") in (legal(fen) or {"none"})


def test_a_ponder_hit_ends_at_once_a_search_that_has_used_its_time(
    searcher: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    deepen = search_thread.deepen

    def endless_from_depth_four(tables: object, worker: Any, depth: int, *rest: int) -> int:
        if depth < 4:
            return int(deepen(tables, worker, depth, *rest))
        running = searcher.engine._search
        assert running is not None
        eventually(lambda: running._stop_flag[0])
        worker.stopped = 1
        return depth - 1

    monkeypatch.setattr(search_thread, "deepen", endless_from_depth_four)
    monkeypatch.setattr(running_search, "allot", lambda *arguments: TimeBudget(soft=0.001, hard=3_600_000.0))
    listener = searcher.start(Limits(ponder=True, wtime=1, btime=1), KIWIPETE)
    listener.wait_for_lines(3)
    searcher.engine.ponderhit()
    assert listener.result.best_move in legal(KIWIPETE)
    assert searcher.engine.wait(TIMEOUT)
    # Without pondering the first iteration is the last.
    assert searcher.search(Limits(wtime=1, btime=1), KIWIPETE).infos[-1].depth == 1


def test_the_soft_limit_is_scaled_by_the_progress_of_the_search(
    searcher: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running_search, "allot", lambda *arguments: TimeBudget(soft=1.0, hard=3_600_000.0))
    monkeypatch.setattr(search_clock, "_SHOW_DETAILS_AFTER", math.inf)  # on a slow machine bounds would be told, too
    seen: list[Progress] = []

    def scaled(progress: Progress) -> float:
        seen.append(progress)
        return 0.0 if len(seen) == 5 else 1e9

    monkeypatch.setattr(running_search, "scale", scaled)
    listener = searcher.search(Limits(wtime=1), KIWIPETE)
    assert [info.depth for info in listener.infos] == [1, 2, 3, 4, 5]
    assert seen[-1].scores == tuple(info.score.cp for info in listener.infos[1:])
    assert 0 < seen[-1].best_share < 1
    heads = [info.pv[0] for info in listener.infos]
    assert seen[-1].stable_for == 4 - max((i + 1 for i in range(4) if heads[i] != heads[-1]), default=0)


@pytest.mark.parametrize(("fen", "deepest"), [(MATED_IN_ONE, 8), (MATE_IN_ONE, 6), (MATE_IN_TWO, 10)])
def test_a_timed_search_ends_early_with_one_move_or_a_mate_that_stands(
    searcher: Searcher, monkeypatch: pytest.MonkeyPatch, fen: str, deepest: int
) -> None:
    monkeypatch.setattr(running_search, "allot", lambda *arguments: TimeBudget(soft=3_600_000.0, hard=3_600_000.0))
    monkeypatch.setattr(running_search, "MAX_DEPTH", 20)
    assert searcher.search(Limits(wtime=1), fen).infos[-1].depth <= deepest


def test_with_several_lines_the_soft_limit_is_not_scaled(searcher: Searcher, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running_search, "allot", lambda *arguments: TimeBudget(soft=1.0, hard=3_600_000.0))
    monkeypatch.setattr(running_search, "scale", lambda progress: 1 / 0)
    searcher.engine.set_option("MultiPV", "2")
    listener = searcher.search(Limits(wtime=1), KIWIPETE)
    assert not any(isinstance(report, Message) for report in listener.reports)
    assert listener.result.best_move in legal(KIWIPETE)


def test_only_the_latest_verdict_counts_at_a_ponder_hit(searcher: Searcher, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running_search, "allot", lambda *arguments: TimeBudget(soft=1.0, hard=3_600_000.0))
    monkeypatch.setattr(search_clock, "_SHOW_DETAILS_AFTER", math.inf)  # on a slow machine bounds would be told, too
    monkeypatch.setattr(running_search, "scale", lambda progress: 0.0 if len(progress.scores) < 3 else 1e9)
    listener = searcher.start(Limits(ponder=True, wtime=1), KIWIPETE)
    listener.wait_for_lines(4)
    searcher.engine.ponderhit()
    listener.wait_for_lines(len(listener.infos) + 2)
    assert not listener.done.is_set()


def test_a_ponder_hit_without_pondering_does_not_end_an_infinite_search(searcher: Searcher) -> None:
    listener = searcher.start(Limits(infinite=True))
    searcher.engine.ponderhit()
    listener.wait_for_lines(len(listener.infos) + 3)
    assert not listener.done.is_set()


def test_search_moves_are_kept_to_and_what_is_not_legal_among_them_is_ignored(searcher: Searcher) -> None:
    listener = searcher.search(Limits(depth=5, searchmoves=("a2a3", "e2e5", "h2h3", "junk")))
    assert {info.pv[0] for info in listener.infos} <= {"a2a3", "h2h3"}
    searcher.engine.set_option("MultiPV", "5")
    listener = searcher.search(Limits(depth=3, searchmoves=("a2a3", "h2h3")))
    assert {info.multipv for info in listener.infos} == {1, 2}
    listener = searcher.search(Limits(depth=2, searchmoves=("e2e5",)))
    assert isinstance(listener.reports[0], Message)
    assert listener.result.best_move in legal(None)


def test_a_search_of_some_moves_leaves_no_score_of_the_whole_position(searcher: Searcher) -> None:
    before, only_move, stalemates = "8/7k/8/8/p7/P4Q2/6R1/1KB5 b - - 0 1", ("h7h8",), ("f3f7",)
    drawn = searcher.search(Limits(depth=6, searchmoves=stalemates), before, only_move)
    assert drawn.infos[-1].score == Score(cp=0)
    searcher.engine.set_position(before)
    info = searcher.go(Limits(depth=1)).result.info
    assert info is not None
    assert info.score.cp is not None
    assert info.score.cp < -500


@pytest.mark.parametrize("limits", [Limits(depth=60), Limits(nodes=10**15), Limits(mate=40)])
def test_the_clock_ends_a_search_that_also_has_other_limits(searcher: Searcher, limits: Limits) -> None:
    assert searcher.search(replace(limits, wtime=100, btime=100), KIWIPETE).result.best_move in legal(KIWIPETE)


def test_the_greatest_depth_ends_a_search(searcher: Searcher) -> None:
    assert searcher.search(Limits(depth=10_000), MATE_IN_ONE).infos[-1].depth == MAX_DEPTH


def test_a_stop_from_several_threads_gives_one_result(searcher: Searcher) -> None:
    listener = searcher.start(Limits(infinite=True))
    threads = [threading.Thread(target=searcher.engine.stop) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert listener.result.best_move in legal(None)


# --- When something goes wrong ----------------------------------------------------------------------------------------


def raises(report: object) -> None:
    raise ValueError("deaf")


@pytest.mark.parametrize("limits", [Limits(depth=4), Limits(movetime=100), Limits(wtime=1000, btime=1000)])
def test_a_listener_that_raises_does_not_cost_the_game(
    searcher: Searcher, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], limits: Limits
) -> None:
    monkeypatch.setattr(search_clock, "_SHOW_DETAILS_AFTER", 0.0)  # so that the clock's thread reports too

    results: list[object] = []
    searcher.engine.go(limits, raises, results.append)
    assert searcher.engine.wait(TIMEOUT)
    assert len(results) == 1
    assert "ValueError: deaf" in capsys.readouterr().err


def test_a_listener_that_raises_ends_no_search_even_if_standard_error_is_closed(
    searcher: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stderr", closed)
    results: list[Result] = []
    searcher.engine.go(Limits(depth=4), raises, results.append)
    assert searcher.engine.wait(TIMEOUT)
    assert [result.info and result.info.depth for result in results] == [4]


def test_a_failure_of_the_core_is_told_and_the_best_move_so_far_is_played(
    searcher: Searcher, monkeypatch: pytest.MonkeyPatch, held: threading.Event
) -> None:
    deepen = search_thread.deepen

    def fails(tables: object, worker: Any, depth: int, *rest: int) -> int:
        if depth == 4:
            raise RuntimeError("broken")
        return int(deepen(tables, worker, depth, *rest))

    monkeypatch.setattr(search_thread, "deepen", fails)
    listener = searcher.search(Limits(depth=9), KIWIPETE)
    assert listener.reports[-1] == Message("search failed: RuntimeError('broken')")
    assert listener.result.best_move == listener.infos[-1].pv[0]
    assert listener.infos[-1].depth == 3
    endless = searcher.start(Limits(infinite=True), KIWIPETE)
    assert held.wait(TIMEOUT)
    assert not endless.done.is_set()
    searcher.engine.stop()
    assert endless.result.best_move in legal(KIWIPETE)


def test_a_line_that_cannot_be_extended_is_played_all_the_same(
    searcher: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running_search, "play_out", lambda *given: 1 // 0)
    listener = searcher.search(Limits(depth=3), PAWN_ENDING)
    assert Message("search failed: ZeroDivisionError('integer division or modulo by zero')") in listener.reports
    assert listener.result.best_move in legal(PAWN_ENDING)


def test_a_search_whose_lines_cannot_be_read_plays_a_legal_move(
    searcher: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_thread.SearchThread, "line", lambda *given: 1 // 0)
    listener = searcher.search(Limits(depth=3), KIWIPETE)
    assert set(listener.reports) == {Message("search failed: ZeroDivisionError('integer division or modulo by zero')")}
    assert listener.result.best_move in legal(KIWIPETE)


def test_a_search_whose_reply_cannot_be_found_plays_its_move(
    searcher: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_thread, "play_expected", lambda *given: 1 // 0)
    result = searcher.search(Limits(depth=1), MATE_IN_ONE).result
    assert (result.best_move, result.ponder) == ("a1a8", None)


def test_a_search_that_cannot_even_begin_plays_a_legal_move(
    searcher: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The state of the thread then still is that of another position, or none at all."""
    for fen in (None, KIWIPETE):
        searcher.search(Limits(depth=4), fen)
    with monkeypatch.context() as patch:
        patch.setattr(search_thread, "copy_game", lambda source, target: 1 // 0)
        listener = searcher.search(Limits(depth=4), MATE_IN_TWO)
    assert Message("search failed: ZeroDivisionError('integer division or modulo by zero')") in listener.reports
    assert listener.result.best_move in legal(MATE_IN_TWO)
    assert listener.result.ponder is None


# --- The reply to ponder on -------------------------------------------------------------------------------------------


def test_the_reply_to_ponder_on_is_legal_and_known_whenever_the_table_knows_it(searcher: Searcher) -> None:
    for nodes in range(20_000, 80_000, 3001):
        result = searcher.search(Limits(nodes=nodes), KIWIPETE).result
        assert result.best_move is not None
        board = chess.Board(KIWIPETE)
        board.push_uci(result.best_move)
        assert result.ponder in {move.uci() for move in board.legal_moves}


@pytest.mark.parametrize(
    "fen",
    [
        MATE_IN_ONE,  # over after the best move
        MATED_IN_ONE,  # after the reply to it
        "8/8/8/4k3/8/8/8/R3K3 w - - 99 90",  # by the fifty-move rule
        "8/8/8/4k3/8/8/8/R3K3 w - - 98 90",
        "4k3/8/8/8/8/8/3q4/4K3 w - - 0 1",  # bare kings
        CHECKMATE,
    ],
)
def test_no_reply_is_expected_in_a_game_that_is_over(searcher: Searcher, fen: str) -> None:
    assert searcher.search(Limits(depth=5), fen).result.ponder is None


def test_no_reply_is_expected_after_the_third_repetition(searcher: Searcher) -> None:
    moves = ("g1f3", "g8f6", "f3g1", "f6g8") * 2
    back = Limits(depth=4, searchmoves=(moves[-1],))
    assert searcher.search(back, None, moves[:3]).result.ponder is not None
    assert searcher.search(back, None, moves[:7]).result.ponder is None


@pytest.mark.parametrize("limits", [Limits(wtime=400, btime=400, winc=10, binc=10), Limits(movetime=60)])
def test_a_clock_that_counts_nodes(searcher: Searcher, limits: Limits) -> None:
    searcher.engine.set_option("nodestime", "50")
    first = searcher.search(limits, KIWIPETE)
    searcher.engine.new_game()
    second = searcher.search(limits, KIWIPETE)
    assert first.infos[-1].nodes == second.infos[-1].nodes <= 50 * 0.4 * 400
    assert first.infos[-1].pv == second.infos[-1].pv
    if limits.movetime:
        assert first.infos[-1].nodes == pytest.approx(50 * 60, rel=0.05)


@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize("own_limit", [None, 10**9])
def test_a_clock_that_counts_nodes_begins_at_the_ponder_hit(
    searcher: Searcher, on_large_machine: None, threads: str, own_limit: int | None
) -> None:
    searcher.engine.set_option("nodestime", "1000")
    searcher.engine.set_option("Threads", threads)
    listener = searcher.start(Limits(movetime=60, nodes=own_limit, ponder=True), KIWIPETE)
    listener.wait_for(lambda: listener.infos and listener.infos[-1].nodes > 3 * 60_000)
    search = searcher.engine._search
    assert search is not None
    before = search._reporter.nodes()
    searcher.engine.ponderhit()
    after = search._reporter.nodes()
    assert listener.result.info is not None
    assert searcher.engine.wait(TIMEOUT)
    searched = search._reporter.nodes()
    left = 64 * (int(threads) - 1)  # when one thread stops the search, each other one may have taken 64 nodes in vain
    assert before + 60_000 - left <= searched <= after + 60_000 + 200 * int(threads)


def test_pondering_keeps_its_own_limit_of_nodes_even_if_the_clock_counts_nodes(searcher: Searcher) -> None:
    searcher.engine.set_option("nodestime", "1000")
    listener = searcher.start(Limits(movetime=60_000, nodes=20_000, ponder=True), KIWIPETE)
    searcher.engine.ponderhit()
    assert listener.result.info is not None
    assert listener.result.info.nodes <= 20_100
