"""The library's engine: plays, analyses, streams, in threads and in coroutines."""

import asyncio
import copy
import gc
import os
import pickle
import shutil
import struct
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import chess
import chess.engine
import chess.polyglot
import numpy as np
import psutil
import pytest
from chess.engine import Cp, Limit, Mate
from waiting import TIMEOUT, eventually

import knightadder
from knightadder import Bound, Engine, EngineError, EnginePool, OptionError, PositionError, SimpleEngine
from knightadder.engine.limits import Limits

SCHOLARS_MATE = "r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4"
MATED = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3"
STALEMATED = "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"


@pytest.fixture(scope="module")
def shared() -> Iterator[Engine]:
    with Engine() as engine:
        yield engine


@pytest.fixture
def engine(shared: Engine) -> Iterator[Engine]:
    shared.new_game()
    yield shared
    shared.stop()
    shared.configure({"UCI_LimitStrength": False, "Skill Level": 20, "Threads": 1})


def line_is_legal(board: chess.Board, pv: tuple[chess.Move, ...]) -> bool:
    board = board.copy()
    for move in pv:
        if not board.is_legal(move):
            return False
        board.push(move)
    return True


def test_too_little_memory_for_one_more_engine_is_an_error_of_the_engine(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(tables: object) -> None:
        raise MemoryError

    monkeypatch.setattr("knightadder.engine.engine.Game", no_room)
    with pytest.raises(EngineError, match="not enough memory"):
        Engine()


# --- playing -------------------------------------------------------------------------------------------------------


def test_plays_a_whole_legal_game(engine: Engine) -> None:
    board = chess.Board()
    while not board.is_game_over(claim_draw=True) and len(board.move_stack) < 200:
        result = engine.play(board, Limit(nodes=300))
        assert result.move is not None and board.is_legal(result.move)
        assert result.line.move == result.move
        board.push(result.move)
    assert len(board.move_stack) > 20


@pytest.mark.parametrize(("fen", "score"), [(MATED, Mate(0)), (STALEMATED, Cp(0))])
def test_a_game_that_is_over_has_no_move(engine: Engine, fen: str, score: chess.engine.Score) -> None:
    result = engine.play(chess.Board(fen), Limit(depth=3))
    assert result.move is None
    assert result.line.pv == ()
    assert result.line.score.relative == score
    assert result.line.wdl.relative.expectation() == (0 if fen == MATED else 0.5)


def test_root_moves_are_the_choice(engine: Engine) -> None:
    board = chess.Board()
    wanted = [board.parse_san("a3"), board.parse_san("h4")]
    assert engine.play(board, Limit(depth=4), root_moves=wanted).move in wanted


@pytest.mark.parametrize(
    ("fen", "text", "move"),
    [
        (chess.STARTING_FEN, "Nf3", "g1f3"),
        (chess.STARTING_FEN, "e2e4", "e2e4"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "O-O-O", "e1c1"),
        ("8/P6k/8/8/8/8/8/K7 w - - 0 1", "a8=N", "a7a8n"),
    ],
)
def test_root_moves_may_be_text(engine: Engine, fen: str, text: str, move: str) -> None:
    assert engine.play(fen, Limit(depth=1), root_moves=[text]).move == chess.Move.from_uci(move)
    assert engine.analyse(fen, Limit(depth=1), root_moves=[text]).best_move == chess.Move.from_uci(move)


@pytest.mark.parametrize("text", ["e5", "e2e5", "0000", "--", "", "Nf3 Nf6"])
def test_root_moves_that_are_not_legal_are_named(engine: Engine, text: str) -> None:
    with pytest.raises(PositionError, match=r"^illegal move: "):
        engine.play("startpos", Limit(depth=1), root_moves=[text])


def test_one_text_is_not_several_root_moves(engine: Engine) -> None:
    with pytest.raises(TypeError, match=r"^root_moves must be several moves, not 'e4'"):
        engine.play("startpos", Limit(depth=1), root_moves="e4")  # an iterable of str, too


def test_the_board_is_left_as_it_was(engine: Engine) -> None:
    board = chess.Board()
    board.push_san("Nf3")
    before = board.copy()
    engine.play(board, Limit(depth=2), ponder=True)
    assert board == before and board.move_stack == before.move_stack


def test_castling_of_chess960_is_king_takes_rook(engine: Engine) -> None:
    board = chess.Board("1k6/8/8/8/8/8/3PPP2/3RKR2 w F - 0 1", chess960=True)
    castling = chess.Move.from_uci("e1f1")
    assert board.is_legal(castling)
    result = engine.play(board, Limit(depth=2), root_moves=[castling])
    assert result.move == castling
    # And a plain board after it has the plain notation again.
    board = chess.Board("4k3/8/8/8/8/8/3PPPPP/4K2R w K - 0 1")
    castling = chess.Move.from_uci("e1g1")
    assert engine.play(board, Limit(depth=2), root_moves=[castling]).move == castling


def test_the_moves_before_count_for_repetitions(engine: Engine) -> None:
    # White is lost but for the threefold repetition that Kh1 completes.
    board = chess.Board("7k/8/8/8/8/2q5/8/6K1 w - - 10 60")
    for uci in ("g1h1", "c3b3", "h1g1", "b3c3", "g1h1", "c3b3", "h1g1", "b3c3"):
        board.push_uci(uci)
    assert engine.analyse(board, Limit(depth=4), root_moves=[chess.Move.from_uci("g1h1")]).score.relative == Cp(0)
    alone = chess.Board(board.fen())
    assert engine.analyse(alone, Limit(depth=4), root_moves=[chess.Move.from_uci("g1h1")]).score.relative < Cp(-500)


@pytest.mark.parametrize("moves", ["Nf3", "e4 e5 Nf3", "Nf3 Nf6 Ng1 Ng8 Nf3"])
def test_a_board_counts_as_it_is_even_if_its_moves_do_not_lead_there(engine: Engine, moves: str) -> None:
    board = chess.Board()
    for move in moves.split():
        board.push_san(move)
    board.turn = chess.WHITE  # python-chess keeps the moves
    found = engine.analyse(board, Limit(depth=5))
    engine.new_game()
    alone = engine.analyse(board.fen(), Limit(depth=5))
    assert (found.pv, found.score) == (alone.pv, alone.score)
    assert line_is_legal(board, found.pv)
    [many] = knightadder.analyse_many([board], Limit(depth=5))
    assert line_is_legal(board, many.pv)
    assert engine.play(board, Limit(depth=3)).move in board.legal_moves


# --- pondering -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("moves", [[], ["e2e4"]], ids=["white", "black"])
@pytest.mark.parametrize("clocks", [{}, {"white_clock": 60, "black_clock": 60}], ids=["no clock", "clocks"])
def test_a_ponder_hit_goes_on_with_the_search(engine: Engine, moves: list[str], clocks: dict[str, float]) -> None:
    board = chess.Board()
    for name in moves:
        board.push_uci(name)
    limit = Limit(nodes=20_000, **clocks)
    first = engine.play(board, limit, ponder=True)
    assert first.move and first.ponder
    searching = engine._pondering
    assert searching is not None
    board.push(first.move)
    board.push(first.ponder)
    second = engine.play(board, limit)
    assert searching.feed.result().best_move == second.move
    assert second.move is not None and board.is_legal(second.move)


@pytest.mark.parametrize(("first", "second"), [(20, 19), (1, None)], ids=["20 moves to go", "the last move"])
def test_a_ponder_hit_counts_the_moves_to_go_down(engine: Engine, first: int, second: int | None) -> None:
    board = chess.Board()
    limit = Limit(nodes=20_000, white_clock=60, black_clock=60, remaining_moves=first)
    played = engine.play(board, limit, ponder=True)
    assert played.move and played.ponder
    searching = engine._pondering
    assert searching is not None
    board.push(played.move)
    board.push(played.ponder)
    answer = engine.play(board, replace(limit, remaining_moves=second))
    assert answer.line is searching.feed.result().best


def test_after_a_ponder_hit_the_new_limit_counts(engine: Engine) -> None:
    board = chess.Board()
    first = engine.play(board, Limit(nodes=300), ponder=True)
    assert first.move and first.ponder
    board.push(first.move)
    board.push(first.ponder)
    assert engine.play(board, Limit(nodes=100_000)).line.nodes > 50_000


def test_a_ponder_miss_is_forgotten(engine: Engine) -> None:
    board = chess.Board()
    first = engine.play(board, Limit(nodes=5000), ponder=True)
    assert first.move and first.ponder
    board.push(first.move)
    other = next(move for move in board.legal_moves if move != first.ponder)
    board.push(other)
    missed = engine._pondering
    second = engine.play(board, Limit(nodes=5000))
    assert second.move is not None and board.is_legal(second.move)
    assert second.line.fen == board.fen()
    assert missed is not None and missed.feed.analysis and engine._pondering is None


def test_pondering_does_not_stand_in_the_way(engine: Engine) -> None:
    engine.play(chess.Board(), Limit(nodes=5000), ponder=True)
    engine.configure({"Skill Level": 20})
    engine.play(chess.Board(), Limit(nodes=5000), ponder=True)
    assert engine.analyse(chess.Board(SCHOLARS_MATE), Limit(depth=2)).score.white() == Mate(1)
    engine.play(chess.Board(), Limit(nodes=5000), ponder=True)
    engine.new_game()


def test_a_move_is_returned_even_if_the_engine_cannot_ponder(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    go = engine._core.go

    def go_without_pondering(limits: Limits, *rest: Any) -> Callable[[], None]:
        if limits.ponder:
            raise MemoryError("no room")
        return go(limits, *rest)

    monkeypatch.setattr(engine._core, "go", go_without_pondering)
    played = engine.play(chess.Board(), Limit(nodes=5000), ponder=True)
    assert played.move and played.ponder
    assert "the engine cannot ponder: MemoryError: no room" in caplog.text
    assert engine.play(SCHOLARS_MATE, Limit(depth=2)).move == chess.Move.from_uci("h5f7")


# --- analysing -----------------------------------------------------------------------------------------------------


def test_analysis_has_lines_of_each_rank(engine: Engine) -> None:
    board = chess.Board()
    analysis = engine.analyse(board, Limit(depth=6), multipv=3)
    assert [line.rank for line in analysis.lines] == [1, 2, 3]
    assert len({line.move for line in analysis.lines}) == 3
    scores = [line.score.relative for line in analysis.lines]
    assert scores == sorted(scores, reverse=True)
    assert analysis.best_move == analysis.best.move == analysis.pv[0]
    assert analysis.score == analysis.best.score
    for line in analysis.lines:
        assert line_is_legal(board, line.pv)
        assert line.bound is Bound.EXACT and line.depth == 6 and line.seldepth >= 6
        assert line.score.turn == line.wdl.turn == chess.WHITE
        assert sum((line.wdl.relative.wins, line.wdl.relative.draws, line.wdl.relative.losses)) == 1000


def test_scores_are_those_of_the_side_to_move(engine: Engine) -> None:
    without_queen = chess.Board("rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1")
    score = engine.analyse(without_queen, Limit(depth=5)).score
    assert score.turn == chess.BLACK
    assert score.relative < Cp(-500) and score.white() > Cp(500)


def test_analysis_agrees_with_the_engine_over_uci(engine: Engine) -> None:
    board = chess.Board("r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3")
    ours = engine.analyse(board, Limit(depth=8))
    with chess.engine.SimpleEngine.popen_uci(_command(), timeout=200) as process:
        theirs = process.analyse(board, Limit(depth=8))
    assert theirs["pv"] == list(ours.pv)
    assert theirs["score"] == ours.score
    assert theirs["nodes"] == ours.best.nodes


def _command() -> list[str]:
    import sys

    return [sys.executable, "-m", "knightadder"]


# --- streaming -----------------------------------------------------------------------------------------------------


def test_stream_gives_each_depth_and_ends(engine: Engine) -> None:
    with engine.stream(chess.Board(), Limit(depth=6)) as stream:
        lines = list(stream)
    assert {line.depth for line in lines} == {1, 2, 3, 4, 5, 6}
    assert [line.nodes for line in lines] == sorted(line.nodes for line in lines)
    assert stream.done and stream.result().best == lines[-1]
    assert list(stream) == []


def test_a_stream_without_a_limit_goes_on_until_it_is_left(engine: Engine) -> None:
    with engine.stream(chess.Board()) as stream:
        for line in stream:
            if line.depth >= 5:
                break
        assert not stream.done
    assert stream.done
    assert stream.result().best.depth >= 5


def test_stop_ends_a_search_of_another_thread(engine: Engine) -> None:
    stream = engine.stream(chess.Board())
    next(stream)
    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(stream.result)
        engine.stop()
        assert result.result(300).best_move is not None


def test_a_loop_that_is_left_ends_its_search(engine: Engine) -> None:
    stream = engine.stream(chess.Board())
    for _ in stream:
        break
    assert stream.result().best_move
    for _ in engine.stream(chess.Board()):
        break
    assert engine.play(chess.Board(), Limit(depth=1)).move


def test_an_asynchronous_loop_that_is_left_ends_its_search(engine: Engine) -> None:
    async def run() -> None:
        stream = engine.stream(chess.Board())
        async for _ in stream:
            break
        assert (await asyncio.wait_for(stream.result_async(), 200)).best_move
        async with engine.stream(chess.Board()) as stream:
            async for _ in stream:
                break
            assert not stream.done
        async for _ in engine.stream(chess.Board()):
            break
        assert engine.play(chess.Board(), Limit(depth=1)).move

    asyncio.run(run())


def test_a_search_that_nobody_waits_for_ends(engine: Engine) -> None:
    engine.stream(chess.Board())
    assert engine.play(chess.Board(), Limit(depth=1)).move
    before = set(threading.enumerate())
    Engine().stream(chess.Board())
    for thread in set(threading.enumerate()) - before:
        if thread.name == "clock":  # the other one is kept
            thread.join()


def test_a_stream_keeps_its_engine() -> None:
    with Engine().stream(chess.Board()) as stream:
        gc.collect()
        assert next(line for line in stream if line.depth >= 5)


def test_one_search_at_a_time(engine: Engine) -> None:
    with engine.stream(chess.Board()):
        for call in (
            lambda: engine.play(chess.Board(), Limit(depth=1)),
            lambda: engine.configure({"Hash": 2}),
            engine.new_game,
        ):
            with pytest.raises(EngineError, match="the engine is searching"):
                call()


def test_a_waiting_thread_does_not_hold_up_the_thread_that_searches(engine: Engine) -> None:
    stream = engine.stream(chess.Board())
    give_up = threading.Timer(TIMEOUT, stream.stop)
    give_up.start()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(engine.analyse, chess.Board(), Limit(depth=1))
        while next(stream).depth < 12:
            pass
        for call in (
            lambda: engine.play(chess.Board(), Limit(depth=1)),
            lambda: engine.stream(chess.Board()),
            engine.new_game,
        ):
            with pytest.raises(EngineError, match="the engine is searching"):
                call()
        assert not stream.done and not waiting.done()
        stream.stop()
        assert waiting.result(TIMEOUT).best_move
    give_up.cancel()


def test_an_answer_does_not_wait_until_the_engine_can_ponder(engine: Engine) -> None:
    async def main(pool: ThreadPoolExecutor) -> None:
        playing = asyncio.create_task(engine.play_async(chess.Board(), Limit(nodes=2000), ponder=True))
        await asyncio.sleep(0)
        eventually(lambda: repr(engine) == "<Engine: idle>")  # the search ends while this task holds the event loop
        stream = engine.stream(chess.Board())
        give_up = threading.Timer(TIMEOUT, stream.stop)
        give_up.start()
        waiting = pool.submit(engine.analyse, chess.Board(), Limit(depth=1))
        while next(stream).depth < 12:
            pass
        assert (await playing).move
        assert not stream.done and not waiting.done()
        stream.stop()
        assert waiting.result(TIMEOUT).best_move
        give_up.cancel()

    with ThreadPoolExecutor(1) as pool:
        asyncio.run(main(pool))


def test_threads_wait_their_turn(engine: Engine) -> None:
    board = chess.Board()
    alone = engine.analyse(board, Limit(depth=4)).best_move
    stream = engine.stream(board)
    with ThreadPoolExecutor(4) as pool:
        analyses = [pool.submit(engine.analyse, board, Limit(depth=4)) for _ in range(8)]
        moves = [pool.submit(engine.play, board, Limit(nodes=500), ponder=True) for _ in range(8)]
        settings = [pool.submit(engine.configure, {"Skill Level": 20}) for _ in range(4)]
        next(stream)
        assert not any(future.done() for future in (*analyses, *moves, *settings))
        stream.stop()
        assert alone and all(future.result(300).lines for future in analyses)
        assert all(future.result(300).move in board.legal_moves for future in moves)
        assert all(future.result(300) == [] for future in settings)


def test_tasks_wait_their_turn(engine: Engine) -> None:
    async def main() -> list[knightadder.Analysis]:
        async with engine.stream(chess.Board()) as stream:
            tasks = [asyncio.create_task(engine.analyse_async(chess.Board(), Limit(depth=4))) for _ in range(5)]
            async for line in stream:
                if line.depth >= 5:
                    break
            assert not any(task.done() for task in tasks)
            with pytest.raises(EngineError, match="the engine is searching"):  # it would wait for itself
                await engine.analyse_async(chess.Board(), Limit(depth=1))
            tasks.pop().cancel()
        return await asyncio.gather(*tasks)

    assert [bool(analysis.best_move) for analysis in asyncio.run(main())] == [True] * 4


def test_a_call_that_waits_finds_the_engine_closed() -> None:
    engine = Engine()
    stream = engine.stream(chess.Board())
    with ThreadPoolExecutor(2) as pool:
        calls = [pool.submit(engine.play, chess.Board(), Limit(depth=1)) for _ in range(2)]
        next(stream)
        engine.close()
        for call in calls:
            with pytest.raises(EngineError, match="the engine has been closed"):
                call.result(300)


# --- coroutines ----------------------------------------------------------------------------------------------------


def test_async_twins_answer_as_the_others_do(engine: Engine) -> None:
    board = chess.Board()

    async def both() -> tuple[knightadder.PlayResult, knightadder.Analysis]:
        played = await engine.play_async(board, Limit(depth=7))
        engine.new_game()
        return played, await engine.analyse_async(board, Limit(depth=7))

    played, analysis = asyncio.run(both())
    engine.new_game()
    again = engine.play(board, Limit(depth=7))
    assert played.move == analysis.best_move == again.move
    assert played.line.pv == analysis.pv == again.line.pv


def test_to_cancel_a_task_ends_its_search(engine: Engine) -> None:
    async def main() -> None:
        task = asyncio.create_task(engine.play_async(chess.Board(), Limit(time=1000)))
        await asyncio.sleep(0)  # it begins
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert engine.play(chess.Board(), Limit(depth=1)).move  # waits for the end of that search, which takes a moment


# --- settings and errors -------------------------------------------------------------------------------------------


def test_settings_are_applied() -> None:
    with Engine(hash_mb=2, threads=2, evaluation="pesto", options={"Skill Level": 3, "Move Overhead": 50}) as engine:
        values = {name: engine.options[name].value for name in ("Hash", "Threads", "EvalType", "Skill Level")}
        assert values == {"Hash": 2, "Threads": 2, "EvalType": "pesto", "Skill Level": 3}
        assert engine.options["Move Overhead"].value == 50
        assert engine.play(chess.Board(), Limit(nodes=2000)).move


@pytest.mark.parametrize(
    "settings", [{"hash_mb": 0}, {"threads": 1000}, {"evaluation": "guess"}, {"options": {"Colour": "red"}}]
)
def test_bad_settings_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(OptionError):
        Engine(**settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("limit", [Limit(nodes=2**64), Limit(depth=2**64), Limit(mate=2**64), Limit(time=10**400)])
def test_limits_without_an_end(engine: Engine, limit: Limit) -> None:
    result = engine.play(chess.Board(MATED), limit)  # such nodes were once the end of the process
    assert result.move is None
    stream = engine.stream(chess.Board(), limit)
    next(stream)
    stream.stop()
    assert stream.result().best_move is not None


@pytest.mark.parametrize(
    ("multipv", "error"), [(0, ValueError), (257, ValueError), (2.5, TypeError), (True, TypeError)]
)
def test_impossible_numbers_of_lines_are_refused(engine: Engine, multipv: int, error: type[Exception]) -> None:
    for call in (engine.analyse, engine.stream):
        with pytest.raises(error, match=r"^multipv must be "):
            call(chess.Board(), Limit(depth=1), multipv=multipv)


@pytest.mark.parametrize(
    "options",
    [
        {"Ha\nsh": 5},
        {"Hash\0": 5},
        {5: 5},
        {None: 5},
        {"Hash": 5.0},
        {"Hash": None},
        {"Hash": "5\n6"},
        {"BookFile": "a\0b"},
        {"BookFile": b"book"},
        {"SyzygyPath": "a\0b"},
        {"SyzygyPath": "a\nb"},
        {"SyzygyPath": "\ud800"},
        {"BookFile": "\ud800"},
        {"EvalFile": "\ud800"},
    ],
)
def test_options_that_no_line_holds_are_refused_in_one_line(engine: Engine, options: dict[str, object]) -> None:
    with pytest.raises(OptionError) as caught:
        engine.configure(options)
    assert str(caught.value).isprintable()
    assert engine.play(chess.Board(), Limit(depth=1)).move


def test_options_of_another_type_are_refused(engine: Engine) -> None:
    with pytest.raises(TypeError, match=r"^options must be a mapping of names to values, not \[\('Hash', 2\)\]$"):
        engine.configure([("Hash", 2)])  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["MultiPV", "multipv", "Ponder", "UCI_AnalyseMode", "UCI_Chess960", "UCI_ShowWDL"])
def test_what_each_call_sets_is_not_for_options(engine: Engine, name: str) -> None:
    with pytest.raises(OptionError, match=f"^option {name}: the library sets this option"):
        engine.configure({name: 1})
    with pytest.raises(OptionError, match=f"^option {name}: the library sets this option"):
        Engine(options={name: 1})
    assert name not in engine.options


def test_an_analysis_searches_where_a_book_has_a_move(tmp_path: Path) -> None:
    code = chess.H4 | chess.H2 << 6
    book = tmp_path / "book.bin"
    book.write_bytes(struct.pack(">QHHI", chess.polyglot.zobrist_hash(chess.Board()), code, 1, 0))
    with Engine(options={"OwnBook": True, "BookFile": str(book)}) as engine:
        assert engine.play("startpos", Limit(nodes=2000)).move == chess.Move.from_uci("h2h4")
        assert engine.analyse("startpos", Limit(nodes=2000)).best.nodes > 1000
        assert engine.play("startpos", Limit(nodes=2000)).move == chess.Move.from_uci("h2h4")


def test_options_are_those_of_python_chess_with_their_values(engine: Engine) -> None:
    with chess.engine.SimpleEngine.popen_uci(_command(), timeout=200) as process:
        theirs = {name: option for name, option in process.options.items() if not option.is_managed()}
    ours = engine.options
    assert list(ours) == [name for name in theirs if name not in ("UCI_AnalyseMode", "UCI_ShowWDL")]
    for name, option in ours.items():
        for field in ("name", "type", "min", "max"):
            assert getattr(option, field) == getattr(theirs[name], field), (name, field)
        assert option.default == ("" if theirs[name].default == "<empty>" else theirs[name].default)  # UCI's empty text
        assert option.var == tuple(theirs[name].var or ())
    engine.configure({"skill level": 3, "UCI_LimitStrength": True})
    assert (engine.options["Skill Level"].value, engine.options["uci_limitstrength"].value) == (3, True)
    assert (ours["Skill Level"].value, ours["Clear Hash"].value, ours["EvalType"].value) == (20, None, "nnue")


@pytest.mark.parametrize("path", ["nowhere", ["nowhere"], Path("nowhere"), f"{os.curdir}{os.pathsep}nowhere"])
def test_folders_that_are_not_there_are_refused(engine: Engine, path: Any) -> None:
    with pytest.raises(OptionError, match=r"^there is no folder nowhere$"):
        Engine(syzygy_path=path)
    if isinstance(path, str):
        with pytest.raises(OptionError, match=r"^there is no folder nowhere$"):
            engine.configure({"SyzygyPath": path})
    assert engine.options["SyzygyPath"].value == ""


@pytest.mark.parametrize("name", ["no\u00a0break", *(["caf\udce9"] if sys.platform == "linux" else [])])
def test_folders_and_files_may_have_any_name(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    shutil.copy(chess.engine.__file__, folder / "book.bin")
    with Engine(syzygy_path=folder, options={"SyzygyPath": str(folder)}) as engine:
        assert engine.options["SyzygyPath"].value == str(folder)
        with pytest.raises(OptionError, match=r"^cannot read the book .*book\.bin: it is not a Polyglot book$"):
            engine.configure({"BookFile": str(folder / "book.bin")})
        with pytest.raises(OptionError, match=r"^option EvalFile: .*book\.bin"):
            engine.configure({"EvalFile": str(folder / "book.bin")})
    assert knightadder.analyse_many(["startpos"], Limit(nodes=10), syzygy_path=[folder])
    [entry] = [each for each in os.scandir(os.fsencode(tmp_path)) if each.is_dir()]
    with Engine(syzygy_path=entry) as engine:  # type: ignore[arg-type]
        assert engine.options["SyzygyPath"].value == str(folder)
    (folder / "games.pgn").write_text("1. e4 *\n")
    games = knightadder.read_games(folder / "games.pgn")
    assert all(repr(each).isprintable() for each in (games, *games))


def test_numbers_and_switches_of_numpy_are_options(engine: Engine) -> None:
    engine.configure({"Skill Level": np.int64(3), "UCI_LimitStrength": np.bool_(True)})  # type: ignore[dict-item]
    assert (engine.options["Skill Level"].value, engine.options["UCI_LimitStrength"].value) == (3, True)


def test_without_a_limit_there_is_only_a_stream(engine: Engine) -> None:
    for call in (engine.play, engine.analyse, engine.play_async, engine.analyse_async):
        with pytest.raises(TypeError, match=r"^limit must be a chess\.engine\.Limit, not None"):
            result = call(chess.Board(), None)  # type: ignore[operator]
            asyncio.run(result)


def test_a_clock_of_the_other_side_alone_is_no_limit(engine: Engine) -> None:
    board = chess.Board()
    board.push_san("e4")
    with pytest.raises(ValueError, match=r"^the limit has no black_clock, the clock of the side to move$"):
        engine.play(board, Limit(white_clock=10))  # it would never end
    assert engine.play(board, Limit(white_clock=10, depth=1)).move


def test_a_fen_or_startpos_stands_for_a_board(engine: Engine) -> None:
    for text, best in (("startpos", None), ("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", "d1d8")):
        board, limit = chess.Board() if text == "startpos" else chess.Board(text), Limit(depth=3)
        moves = [
            engine.play(text, limit, ponder=True).move,
            asyncio.run(engine.play_async(text, limit)).move,
            engine.analyse(text, limit).best_move,
            asyncio.run(engine.analyse_async(text, limit)).best_move,
            engine.stream(text, limit).result().best_move,
            engine.play(text, limit, root_moves=board.legal_moves).move,
        ]
        assert all(move in board.legal_moves for move in moves)
        assert best is None or {move.uci() for move in moves} == {best}
    with pytest.raises(PositionError, match="a FEN must have 4 to 6 fields"):
        engine.analyse("nonsense", Limit(depth=1))
    for other in (None, 5, chess.BaseBoard()):
        for call in (engine.play, engine.analyse, engine.stream):
            with pytest.raises(TypeError, match=r"^position must be a chess\.Board, a FEN or 'startpos', not "):
                call(other, Limit(depth=1))


def test_a_closed_engine_says_so() -> None:
    engine = Engine()
    engine.close()
    engine.close()
    with pytest.raises(EngineError, match="has been closed"):
        engine.play(chess.Board(), Limit(depth=1))


def test_a_closed_engine_has_freed_its_memory() -> None:
    engine = Engine(hash_mb=128)
    before = psutil.Process().memory_info().rss
    engine.close()
    assert before - psutil.Process().memory_info().rss > 64 << 20


def test_closing_ends_a_search() -> None:
    engine = Engine()
    stream = engine.stream(chess.Board())
    closer = threading.Thread(target=engine.close)
    closer.start()
    assert stream.result().best_move is not None
    closer.join(200)
    assert not closer.is_alive()


@pytest.mark.parametrize("kind", [Engine, SimpleEngine, lambda: EnginePool(1)])
def test_an_engine_cannot_be_copied_or_pickled(kind: Callable[[], Engine | SimpleEngine | EnginePool]) -> None:
    with kind() as engine:
        for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match=rf"^{type(engine).__name__} cannot be copied or pickled: make another"):
                duplicate(engine)


def test_a_running_search_cannot_be_copied_or_pickled(engine: Engine, recwarn: pytest.WarningsRecorder) -> None:
    with SimpleEngine() as simple, engine.stream("startpos") as stream, simple.analysis(chess.Board()) as analysis:
        for running in (stream, analysis):
            for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
                with pytest.raises(TypeError, match=rf"^{type(running).__name__} cannot be copied or pickled"):
                    duplicate(running)
        gc.collect()
        assert not stream.done  # the end of a copy would have stopped it
    assert not recwarn.list


def test_tablebases_can_be_several_folders(tmp_path_factory: pytest.TempPathFactory) -> None:
    folders = [tmp_path_factory.mktemp("a"), tmp_path_factory.mktemp("b")]
    with Engine(syzygy_path=folders) as engine:
        assert all(str(folder) in engine.options["SyzygyPath"].value for folder in folders)


def test_names_are_imported_when_asked_for() -> None:
    assert "Engine" in dir(knightadder)
    with pytest.raises(AttributeError, match="no attribute 'Motor'"):
        knightadder.Motor  # noqa: B018
    for name in knightadder.__all__:
        assert getattr(knightadder, name) is not None
