"""The loader: loads once in the background, tells how far it is, and says so when it fails."""

import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, cast

import pytest

from knightadder.engine.errors import EngineError
from knightadder.engine.loader import Loader, Report, load_and_report
from knightadder.engine.options import Options

if TYPE_CHECKING:
    from knightadder.engine.engine import Engine

TIMEOUT = 60.0


def test_the_engine_is_loaded_once_in_another_thread_with_the_options_given() -> None:
    calls: list[tuple[Options, threading.Thread]] = []
    engine = cast("Engine", object())

    def load(options: Options, report: Report) -> "Engine":
        calls.append((options, threading.current_thread()))
        return engine

    options = Options()
    loader = Loader(options, load)
    assert not loader.ready.is_set()
    loader.start()
    loader.start()
    assert loader.engine() is engine
    assert loader.engine() is engine
    assert loader.ready.is_set()
    assert loader.error is None
    [(loaded_options, thread)] = calls
    assert loaded_options is options
    assert thread is not threading.current_thread()
    assert thread.daemon


def test_asking_for_the_engine_starts_loading() -> None:
    engine = cast("Engine", object())
    assert Loader(Options(), lambda options, report: engine).engine() is engine


def test_progress_is_told_step_by_step() -> None:
    heard: list[tuple[str | None, bool]] = []
    finished = threading.Event()

    def load(options: Options, report: Report) -> "Engine":
        report("compiling 1/2: perft")
        report("compiling 2/2: search")
        return cast("Engine", object())

    def on_change() -> None:
        heard.append((loader.progress(), loader.ready.is_set()))
        if loader.ready.is_set():
            finished.set()

    loader = Loader(Options(), load)
    assert loader.progress() is None
    loader.start(on_change)
    assert finished.wait(TIMEOUT)
    assert heard == [("compiling 1/2: perft", False), ("compiling 2/2: search", False), ("compiling 2/2: search", True)]


@pytest.mark.parametrize("failure", [ImportError("no numba here"), SystemExit(3), MemoryError()])
def test_a_failure_reaches_whoever_waits(failure: BaseException) -> None:
    def load(options: Options, report: Report) -> "Engine":
        raise failure

    loader = Loader(Options(), load)
    with pytest.raises(EngineError, match=type(failure).__name__) as caught:
        loader.engine()
    assert caught.value.__cause__ is failure
    assert loader.error is failure
    assert loader.ready.is_set()


def test_a_command_is_told_each_step_once() -> None:
    engine = cast("Engine", object())
    heard: list[str] = []
    told = {step: threading.Event() for step in ("compiling 1/2: perft", "compiling 2/2: search")}

    def load(options: Options, report: Report) -> "Engine":
        for step, event in told.items():
            report(step)
            report(step)
            assert event.wait(TIMEOUT)
        return engine

    def on_step(step: str) -> None:
        heard.append(step)
        told[step].set()

    assert load_and_report(Options(), on_step, load) is engine
    assert heard == list(told)


def test_a_command_hears_of_a_failure() -> None:
    def load(options: Options, report: Report) -> "Engine":
        raise ImportError("no numba here")

    with pytest.raises(EngineError, match="no numba here"):
        load_and_report(Options(), lambda step: None, load)


def test_ctrl_c_while_loading_leaves_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    class Left(Exception):
        pass

    finished = threading.Event()

    def load(options: Options, report: Report) -> "Engine":
        report("compiling 1/2: perft")
        assert finished.wait(TIMEOUT)
        return cast("Engine", object())

    def interrupt(step: str) -> None:
        raise KeyboardInterrupt

    def leave(status: int) -> None:
        raise Left(status)

    monkeypatch.setattr(os, "_exit", leave)
    with pytest.raises(Left, match="130"):
        load_and_report(Options(), interrupt, load)
    finished.set()


def test_the_protocol_imports_nothing_heavy() -> None:
    code = (
        "import sys, knightadder.protocols.uci, knightadder.engine.loader\n"
        "heavy = {'numpy', 'numba', 'llvmlite', 'chess', 'rich', 'knightadder.core', 'knightadder.engine.engine'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=TIMEOUT)
    assert printed.stdout.strip() == "[]"
