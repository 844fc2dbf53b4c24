"""Ctrl-C, sent to processes that use the library, and the end of the interpreter in the middle of all calls."""

import os
import signal
import subprocess
import sys
import threading

import chess
import pytest
from chess.engine import Limit

import knightadder

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is sent as POSIX has it")

BEGIN = """
import sys, threading, time
import chess, knightadder
from chess.engine import Limit

board = chess.Board()
knightadder.legal_moves(board), knightadder.analyse_many  # imported now: Ctrl-C may turn an import into another error
"""

COUNTS = """
for _ in range(4):
    try:
        print("working", flush=True)
        knightadder.perft(board, 20)
    except KeyboardInterrupt:
        pass
    for _ in range(10):
        assert knightadder.perft(board, 3) == 8_902
        assert knightadder.divide(board, 2) == dict.fromkeys(board.legal_moves, 20)
        assert set(knightadder.legal_moves(board)) == set(board.legal_moves)
print("done")
"""

SEARCHES = """
engine = knightadder.Engine(threads=2)
for _ in range(4):
    stream = None
    try:
        print("working", flush=True)
        CALL
    except KeyboardInterrupt:
        pass
    assert engine.play(board, Limit(depth=2)).move in board.legal_moves
print("done")
"""


def interrupted(program: str, times: int) -> tuple[int, str, str]:
    """Run a program, and press Ctrl-C so many times whenever it says that it works; give its status and output."""
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        watchdog = threading.Timer(200, process.kill)
        watchdog.start()
        line = ""
        for line in process.stdout:
            if line != "working\n":
                break
            for _ in range(times):
                with pytest.raises(subprocess.TimeoutExpired):
                    process.wait(0.05)
                process.send_signal(signal.SIGINT)
        rest, errors = process.communicate()
        watchdog.cancel()
    return process.returncode, line + rest, errors


def test_ctrl_c_ends_a_count_and_nothing_else() -> None:
    assert interrupted(BEGIN + COUNTS, 1) == (0, "done\n", "")


@pytest.mark.parametrize(
    "call",
    [
        "engine.play(board, Limit(time=1000))",
        "engine.stream(board).result()",
        "stream = engine.stream(board)\n        for line in stream: time.sleep(0.01)",
        "knightadder.analyse_many([board] * 20, Limit(time=1000))",
    ],
)
def test_ctrl_c_ends_a_search_and_the_engine_lives_on(call: str) -> None:
    assert interrupted(BEGIN + SEARCHES.replace("CALL", call), 1) == (0, "done\n", "")


def test_ctrl_c_while_threads_start_leaves_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    start, here, started = threading.Thread.start, threading.current_thread(), []

    def interrupted_start(thread: threading.Thread) -> None:
        start(thread)
        if threading.current_thread() is here:  # the started threads start others, for their searches
            started.append(thread)
            if len(started) == 3:
                raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", interrupted_start)
    with pytest.raises(KeyboardInterrupt):
        knightadder.analyse_many([chess.Board()] * 4, Limit(time=1000), workers=4)
    monkeypatch.undo()
    for thread in started:
        thread.join(100)
    assert [thread.is_alive() for thread in started] == [False] * 3


@pytest.mark.parametrize(
    "call", ["engine.play(board, Limit(nodes=10**15))", "stream = engine.analysis(board)\n        list(stream)"]
)
def test_ctrl_c_ends_a_search_of_a_simple_engine(call: str) -> None:
    program = BEGIN + SEARCHES.replace("Engine(threads=2)", "SimpleEngine(timeout=200)").replace("CALL", call)
    program = program.replace("    assert", "    assert not stream or stream.wait().move\n    assert")
    assert interrupted(program, 1) == (0, "done\n", "")


@pytest.mark.parametrize("call", ["knightadder.perft(board, 20)", "list(engine.stream(board))"])
def test_ctrl_c_ends_a_program(call: str) -> None:
    # All is imported before: Ctrl-C in the middle of an import may become another error (of `__set_name__`, say).
    begin = f"{BEGIN}\nengine = knightadder.Engine()\nprint('working', flush=True)"
    status, _, errors = interrupted(f"{begin}\n{call}", 1)
    assert (status, errors.splitlines()[-1:]) == (-signal.SIGINT, ["KeyboardInterrupt"])


FORKS = """
import os
engine, idle = knightadder.Engine(), knightadder.Engine()
stream = engine.stream(board)
next(stream)
if not (child := os.fork()):
    with knightadder.Engine() as other:
        for each in (other, idle):
            assert each.play(board, Limit(nodes=100)).move in board.legal_moves
    for call in (lambda: engine.play(board, Limit(nodes=1)), engine.new_game, stream.result, lambda: list(stream)):
        try:
            call()
        except knightadder.EngineError as error:
            assert str(error) == "the engine was searching when this process was forked: create a new engine"
        else:
            raise AssertionError
    engine.close()
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
stream.stop()
assert engine.play(board, Limit(nodes=100)).move in board.legal_moves
with knightadder.Engine(threads=2) as two:  # its threads end after the result
    for _ in range(10):
        two.play(board, Limit(nodes=3000))
        if not (child := os.fork()):
            two.play(board, Limit(nodes=100))
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
print("done")
"""


def test_a_forked_process_knows_that_the_search_is_another_process_s() -> None:
    status, out, errors = interrupted(BEGIN + FORKS, 0)
    assert (status, out) == (0, "done\n"), errors


FORKS_WHILE_LOADING = """
import os, signal, time
threading.Thread(target=knightadder.Engine).start()
children = []
for _ in range(6):
    time.sleep(0.01)
    if not (child := os.fork()):
        signal.alarm(150)  # a fork in the middle of the loading used to leave a locked lock
        with knightadder.Engine() as engine:
            assert engine.play(board, Limit(nodes=100)).move in board.legal_moves
        os._exit(0)
    children.append(child)
print([os.waitpid(child, 0)[1] for child in children])
"""


def test_a_process_forked_while_the_core_is_loaded_has_an_engine() -> None:
    status, out, errors = interrupted(BEGIN + FORKS_WHILE_LOADING, 0)
    assert (status, out) == (0, "[0, 0, 0, 0, 0, 0]\n"), errors


def test_the_interpreter_may_end_while_everything_works() -> None:
    program = """
def work(call):
    threading.Thread(target=call, daemon=True).start()

def on_and_on(call):
    while True:
        call()

one, two = knightadder.Engine(threads=2), knightadder.Engine()
stream = one.stream(board)
knightadder.Engine().stream(board)
work(lambda: on_and_on(lambda: two.play(board, Limit(nodes=1000), ponder=True)))
work(lambda: knightadder.perft(board, 20))
work(lambda: knightadder.analyse_many([board] * 1000, Limit(nodes=10_000)))
work(lambda: knightadder.analyse_many([board] * 10, Limit(depth=100)))
begun = knightadder.analyse_iter([board] * 2, Limit(nodes=1, time=1000))
endless = knightadder.analyse_iter([board, board] * 10, Limit(depth=1), workers=1)
next(endless)
work(lambda: on_and_on(lambda: knightadder.evaluate_many([board] * 50_000)))
time.sleep(1)
print("done")
"""
    assert interrupted(BEGIN + program, 0) == (0, "done\n", "")
