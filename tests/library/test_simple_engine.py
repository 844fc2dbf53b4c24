"""`SimpleEngine` offers the same as python-chess's: its tests, adapted, and threads, forks, errors, missing ends."""

import asyncio
import gc
import math
import os
import re
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import chess
import chess.engine
import pytest
from chess.engine import (
    INFO_ALL,
    INFO_BASIC,
    INFO_PV,
    INFO_SCORE,
    AnalysisComplete,
    EngineError,
    EngineTerminatedError,
    Info,
    InfoDict,
    Limit,
    Mate,
)
from waiting import eventually

from knightadder import SimpleEngine

SCRIPT = Path(__file__).with_name("simple_script.py")
MATE_IN_2 = "8/6K1/1p1B1RB1/8/2Q5/2n1kP1N/3b4/4n3 w - - 0 1"
LONG = Limit(nodes=10**15)


@pytest.fixture(scope="module")
def shared() -> Iterator[SimpleEngine]:
    with SimpleEngine.popen_uci("stockfish", timeout=200, setpgrp=True) as engine:
        yield engine


@pytest.fixture
def engine(shared: SimpleEngine) -> SimpleEngine:
    shared.timeout = 200
    shared.ping()
    return shared


def run(program: str, *flags: str) -> str:
    """Run a program, and give its output; it must not write of errors."""
    done = subprocess.run([sys.executable, *flags, "-c", program], capture_output=True, text=True, timeout=250)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


# --- as python-chess's own -----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("shared")  # the core is loaded before, because python-chess waits only some seconds
def test_a_script_for_python_chess_needs_one_line_changed() -> None:
    text = SCRIPT.read_text("utf-8")
    line = 'knightadder.SimpleEngine.popen_uci("stockfish")'
    assert text.count(line) == 1
    command = [sys.executable, "-m", "knightadder"]
    theirs = text.replace(line, f"chess.engine.SimpleEngine.popen_uci({command}, timeout=200)")
    done = subprocess.run([sys.executable, "-c", theirs], capture_output=True, text=True, timeout=250)
    assert run(text) == done.stdout, done.stderr


@pytest.mark.usefixtures("shared")
def test_answers_are_those_over_uci() -> None:
    def answers(engine: chess.engine.SimpleEngine) -> list[object]:
        board = chess.Board("r2qr1k1/pb2npp1/1pn1p2p/8/3P4/P1PQ1N2/B4PPP/R1B1R1K1 w - - 2 15")
        found: list[InfoDict] = []
        for shown, selected in enumerate((INFO_ALL, INFO_PV, INFO_SCORE, INFO_BASIC, INFO_PV | INFO_SCORE)):
            options = {"UCI_ShowWDL": bool(shown)}
            found.append(engine.analyse(board, Limit(depth=5), game=selected, info=selected, options=options))
            result = engine.play(board, Limit(depth=5), game=-selected, info=selected, options=options)
            found += [{"pv": [result.move or chess.Move.null()]}, result.info]
        found += engine.analyse(board, Limit(depth=4), game="lines", multipv=2)
        with engine.analysis(board, Limit(depth=6), game="depths") as analysis:
            found += list(analysis)
        mated = chess.Board("rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3")
        found.append(engine.analyse(mated, Limit(depth=3)))
        unlike = {"time", "nps", "string", "currmove", "currmovenumber"}
        kept = [{key: value for key, value in info.items() if key not in unlike} for info in found]
        # On a slow machine bounds are told, too.
        return [info for info in kept if info.keys() - {"depth"} and not info.keys() & {"lowerbound", "upperbound"}]

    with SimpleEngine(timeout=200) as ours:
        here = answers(ours)
    with chess.engine.SimpleEngine.popen_uci([sys.executable, "-m", "knightadder"], timeout=200) as theirs:
        assert here == answers(theirs)


def test_the_names_of_python_chess_are_there() -> None:
    assert issubclass(SimpleEngine, chess.engine.SimpleEngine)
    for name, value in vars(chess.engine.SimpleEngine).items():
        if not name.startswith("_") and callable(value):
            assert getattr(SimpleEngine, name) is not value, f"{name} would talk to a process"


def test_the_engine_says_who_it_is(engine: SimpleEngine) -> None:
    assert engine.id["name"].startswith("Knightadder ")
    assert engine.options["uci_CHESS960"].default is False
    assert engine.options["Hash"].type == "spin"
    assert engine.options["EvalType"].var == ["classical", "pesto", "nnue"]


@pytest.mark.parametrize(
    ("fen", "best"),
    [
        ("1k1r4/pp1b1R2/3q2pp/4p3/2B5/4Q3/PPP2B2/2K5 b - - 0 1", "Qd1+"),
        ("6k1/N1p3pp/2p5/3n1P2/4K3/1P5P/P1Pr1r2/R1R5 b - - 0 1", "Rf4+"),
    ],
)
def test_mates_are_found(engine: SimpleEngine, fen: str, best: str) -> None:
    board = chess.Board(fen)
    assert engine.play(board, Limit(mate=5), game=object()).move == board.parse_san(best)


def test_an_analysis_can_be_read_watched_and_ended(engine: SimpleEngine) -> None:
    analysis = engine.analysis(chess.Board(MATE_IN_2))
    with analysis:
        assert any(info["score"].is_mate() for info in iter(analysis.next, None))
        assert any(info["score"].white() >= Mate(+2) for info in analysis)
    assert analysis.wait().move == analysis.info["pv"][0]
    assert analysis.info["score"].relative == Mate(+2)
    assert analysis.multipv[0]["score"].black() == Mate(-2)
    assert not analysis.would_block()
    list(analysis)  # reads the rest
    assert analysis.empty() and not analysis.would_block()
    assert list(analysis) == []
    with pytest.raises(AnalysisComplete):
        analysis.get()


def test_an_analysis_waits_for_its_stop(engine: SimpleEngine) -> None:
    analysis = engine.analysis(chess.Board(), multipv=2)
    while len(analysis.multipv) < 2:
        assert analysis.get()["multipv"] in (1, 2)
    analysis.stop()
    best = analysis.wait()
    assert best.move == analysis.multipv[0]["pv"][0] != analysis.multipv[1]["pv"][0]


@pytest.mark.parametrize(
    ("info", "keys"), [(Info.NONE, set()), (INFO_BASIC, {"depth"}), (INFO_SCORE, {"depth", "score"})]
)
def test_only_the_selected_values_are_given(engine: SimpleEngine, info: Info, keys: set[str]) -> None:
    found = engine.play(chess.Board(), Limit(nodes=100), info=info).info
    assert {"depth", "score", "pv", "wdl"} & found.keys() == keys
    assert {"depth", "score", "pv", "wdl"} & engine.analyse(chess.Board(), Limit(nodes=100), info=info).keys() == keys


def test_a_game_is_played_while_the_engine_ponders(engine: SimpleEngine) -> None:
    board, game = chess.Board(), object()
    while board.ply() < 8:
        result = engine.play(board, Limit(nodes=200), game=game, ponder=True)
        assert result.move is not None
        board.push(result.move)
        board.push(result.ponder or next(iter(board.legal_moves)))
    assert engine.analyse(board, Limit(nodes=200), game=game)["pv"]  # ends the pondering
    engine.send_game_result(board)


def test_options_of_a_call_are_for_this_call(engine: SimpleEngine) -> None:
    engine.configure({"Move Overhead": 30})
    engine.play(chess.Board(), Limit(nodes=50), options={"hash": 2, "Move Overhead": 40})
    assert (engine.protocol.config["Hash"], engine.protocol.config["Move Overhead"]) == (2, 40)
    engine.ping()
    assert (engine.protocol.config["Hash"], engine.protocol.config["Move Overhead"]) == (16, 30)
    engine.configure({"Move Overhead": 20, "Clear Hash": None, "OwnBook": 0})
    assert engine.protocol.config["OwnBook"] is False


@pytest.mark.parametrize(
    "options",
    [
        {"nothing": 1},
        {"MultiPV": 2},
        {"Hash": 0},
        {"Hash": "much"},
        {"Hash": None},
        {"EvalType": "stockfish"},
        {"SyzygyPath": "nowhere"},
        {"BookFile": "a\nb"},
    ],
)
def test_impossible_options_are_refused(engine: SimpleEngine, options: dict[str, str | int | bool | None]) -> None:
    for call in (
        lambda: engine.configure({"Move Overhead": 77, **options}),
        lambda: engine.play(chess.Board(), Limit(nodes=50), options=options),
        lambda: SimpleEngine(timeout=200, options=options),
    ):
        with pytest.raises(EngineError):
            call()
    assert engine.play(chess.Board(), Limit(nodes=50)).move
    assert engine.protocol.config["Move Overhead"] == 20


def test_an_impossible_option_leaves_the_others_as_they_were(engine: SimpleEngine) -> None:
    options = {"UCI_LimitStrength": True, "UCI_Elo": 500, "BookFile": "nowhere.bin"}
    for call in (
        lambda: engine.configure(options),
        lambda: engine.play(chess.Board(), Limit(nodes=50), options=options),
    ):
        with pytest.raises(EngineError):
            call()
        assert engine.analyse(chess.Board(), Limit(nodes=500))["nodes"] == 500


def test_impossible_calls_are_refused(engine: SimpleEngine) -> None:
    board = chess.Board()
    for call in (
        lambda: engine.play(chess.Board("8/8/8/8/8/8/8/4K3 w - - 0 1"), Limit(nodes=50)),
        lambda: engine.play(board, Limit(nodes=50), root_moves=["e5"]),
        lambda: engine.analyse(board, Limit(nodes=50), multipv=0),
        lambda: engine.analysis(board, root_moves=[]),
        lambda: engine.communicate(object()),
    ):
        with pytest.raises(EngineError):
            call()
    for limit in (None, 5):
        with pytest.raises(TypeError, match=r"^limit must be a chess\.engine\.Limit, not "):
            engine.play(board, limit)
    assert engine.play(board, Limit(nodes=50), root_moves=["Nf3", "e4"]).move


@pytest.mark.parametrize(
    ("limit", "meant"),
    [
        (Limit(nodes=2e2), Limit(nodes=200)),
        (Limit(nodes=0), Limit(nodes=1)),
        (Limit(depth=3.9), Limit(depth=3)),
        (Limit(depth=-1), Limit(depth=1)),
        (Limit(mate=0, nodes=50), Limit(mate=1, nodes=50)),
        (Limit(time=-0.001, depth=1), Limit(time=0, depth=1)),
        (Limit(white_clock=600, black_clock=600, remaining_moves=0, nodes=50), Limit(nodes=50)),
    ],
)
def test_limits_are_read_as_python_chess_sends_them(engine: SimpleEngine, limit: Limit, meant: Limit) -> None:
    board, found = chess.Board(), []
    for each in (limit, meant):
        infos = engine.analyse(board, each, game=object()), engine.play(board, each, game=object(), info=INFO_ALL).info
        with engine.analysis(board, each, game=object()) as analysis:
            analysis.wait()
        found.append([(info["depth"], info["nodes"], info["pv"]) for info in (*infos, analysis.info)])
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("limit", "complaint"),
    [
        (Limit(time="1"), "time must be a number of seconds, not '1'"),  # type: ignore[arg-type]
        (Limit(time=math.nan), "time must be a finite number of seconds, not nan"),
        (Limit(time=-math.inf), "time must be a finite number of seconds, not -inf"),
        (Limit(depth=math.inf), "depth must be a number, not inf"),  # type: ignore[arg-type]
        (Limit(nodes=math.nan), "nodes must be a number, not nan"),  # type: ignore[arg-type]
        (Limit(mate="two"), "mate must be a number, not 'two'"),  # type: ignore[arg-type]
        (Limit(time=1, remaining_moves=-math.inf), "remaining_moves must be a number, not -inf"),  # type: ignore[arg-type]
    ],
)
def test_an_impossible_limit_is_named(engine: SimpleEngine, limit: Limit, complaint: str) -> None:
    for call in (engine.play, engine.analyse, engine.analysis):
        with pytest.raises((TypeError, ValueError), match=f"^{re.escape(complaint)}$"):
            call(chess.Board(), limit)  # type: ignore[operator]
    assert engine.play(chess.Board(), Limit(time=10**400, depth=1)).move


def test_the_clock_of_one_side_stands_for_both(engine: SimpleEngine) -> None:
    assert engine.play(chess.Board(), Limit(black_clock=0.5)).move


def test_an_engine_that_has_quit_says_so() -> None:
    with pytest.raises(TypeError, match=r"^timeout must be a number of seconds, not '1'$"):
        SimpleEngine.popen("stockfish", timeout="1")  # type: ignore[arg-type]
    engine = SimpleEngine.popen("stockfish", timeout=200)
    with engine:
        analysis = engine.analysis(chess.Board())
        engine.quit()
    assert engine.returncode.result(10) == 0
    assert analysis.info or analysis.empty()
    analysis.stop()
    engine.close()
    for call in (engine.ping, engine.quit, analysis.wait, analysis.next, lambda: engine.options, lambda: engine.id):
        with pytest.raises(EngineTerminatedError):
            call()


def test_an_engine_that_has_quit_is_freed_without_the_garbage_collector() -> None:
    gc.collect()
    gc.disable()
    try:
        engine = SimpleEngine(timeout=200)
        assert engine.play(chess.Board(), Limit(nodes=50)).move
        memory = weakref.ref(engine.protocol._engine)
        engine.quit()
        del engine
        eventually(lambda: memory() is None)  # the event loop may still finish its last step
    finally:
        gc.enable()


# --- threads, errors and ends --------------------------------------------------------------------------------------


def test_quit_ends_the_search_of_another_thread_and_refuses_the_next() -> None:
    engine = SimpleEngine(timeout=200)
    with ThreadPoolExecutor(2) as threads:
        searching = threads.submit(engine.play, chess.Board(), LONG)
        eventually(engine._turn.locked)
        waiting = threads.submit(engine.play, chess.Board(), LONG)
        eventually(lambda: bool(engine._turn._waiters))
        engine.quit()
        assert searching.result(200).move in chess.Board().legal_moves
        with pytest.raises(EngineTerminatedError):
            waiting.result(200)


def test_a_second_analysis_ends_the_first(engine: SimpleEngine) -> None:
    first = engine.analysis(chess.Board())
    second = engine.analysis(chess.Board(MATE_IN_2))
    assert first.wait().move in chess.Board().legal_moves
    assert engine.play(chess.Board(), Limit(nodes=50)).move
    assert second.wait().move in chess.Board(MATE_IN_2).legal_moves
    assert {*first.info} == {*second.info}


def test_an_exception_in_the_block_ends_the_analysis(engine: SimpleEngine) -> None:
    with pytest.raises(KeyError), engine.analysis(chess.Board()) as analysis:
        raise KeyError
    assert analysis.wait().move


def test_a_call_that_takes_too_long_is_an_error(engine: SimpleEngine) -> None:
    engine.timeout = 0
    with pytest.raises(TimeoutError):
        engine.configure({"Hash": 64})


def test_the_timeout_does_not_count_while_a_call_waits_for_its_turn(engine: SimpleEngine) -> None:
    with ThreadPoolExecutor(2) as threads:
        searching = threads.submit(engine.play, chess.Board(), LONG)
        eventually(lambda: repr(engine.protocol._engine) == "<Engine: searching>")  # before, no search could be ended
        engine.timeout = 0.01
        waiting = threads.submit(engine.ping)
        try:
            assert not wait([waiting], 0.5).done
        finally:
            engine.protocol._engine.stop()
        assert searching.result(200).move
        waiting.result(200)


def test_the_time_of_a_search_is_added_to_the_timeout(engine: SimpleEngine) -> None:
    engine.timeout = 100
    assert engine.play(chess.Board(), Limit(time=200, depth=1)).move


def test_threads_wait_their_turn(engine: SimpleEngine) -> None:
    def search(number: int) -> bool:
        board = chess.Board.from_chess960_pos(number)
        played = engine.play(board, Limit(nodes=500), game=number).move
        info = engine.analyse(board, Limit(nodes=500), options={"Hash": 1 + number % 2})
        return board.is_legal(info["pv"][0]) and played in board.legal_moves

    with ThreadPoolExecutor(6) as threads:
        assert all(threads.map(search, range(12), timeout=200))


def test_an_engine_without_references_ends_its_search() -> None:
    engine = SimpleEngine(timeout=200)
    inner, loop, gone = engine.analysis(chess.Board()).inner, engine.protocol.loop, threading.Event()
    weakref.finalize(engine, gone.set)
    del engine
    gc.collect()
    assert gone.is_set()
    assert asyncio.run_coroutine_threadsafe(inner.wait(), loop).result(200).move


def test_the_interpreter_ends_without_a_close() -> None:
    program = """
import atexit, threading
import chess, chess.engine

from knightadder import SimpleEngine

board = chess.Board()
searching, thinking, closing, idle = [SimpleEngine(timeout=200) for _ in range(4)]
idle.configure({"Hash": 2})
analysis = searching.analysis(board)
print(next(analysis)["depth"])
threading.Thread(target=thinking.play, args=(board, chess.engine.Limit(nodes=10**15)), daemon=True).start()
atexit.register(closing.quit)
"""
    assert run(program, "-W", "always::ResourceWarning") == "1\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_process_makes_another_engine() -> None:
    program = """
import os, sys
import chess, chess.engine

from knightadder import SimpleEngine

board, limit = chess.Board(), chess.engine.Limit(nodes=50)
idle, searching = SimpleEngine(timeout=200), SimpleEngine(timeout=200)
analysis = searching.analysis(board)
child = os.fork()
if not child:
    for call in (idle.ping, searching.ping, analysis.wait, analysis.next, idle.quit):
        try:
            call()
        except chess.engine.EngineTerminatedError:
            print("lost", end=" ")
    analysis.stop()
    idle.close()
    with SimpleEngine(timeout=200) as other:
        print(other.play(board, limit).move in board.legal_moves, flush=True)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print(idle.play(board, limit).move in board.legal_moves)
analysis.stop()
print(analysis.wait().move in board.legal_moves)
"""
    # Since Python 3.12 a fork warns if there are threads.
    assert run(program, "-W", "ignore::DeprecationWarning") == "lost lost lost lost lost True\nTrue\nTrue\n"


def test_an_engine_can_be_opened_after_the_system_allowed_no_more_threads() -> None:
    program = """
import threading
from knightadder import EngineError, SimpleEngine

def fail(thread):
    raise RuntimeError("can't start new thread")

start, threading.Thread.start = threading.Thread.start, fail
try:
    SimpleEngine.popen_uci("knightadder")
except EngineError as error:
    print(error)
threading.Thread.start = start
with SimpleEngine.popen_uci("knightadder", timeout=200) as engine:
    print(engine.ping())
"""
    assert run(program) == "the system allows no more threads\nNone\n"
