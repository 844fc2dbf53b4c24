"""The loader: loads once in the background, tells how far it is, and says so when it fails."""

import subprocess
import sys
import threading
from typing import TYPE_CHECKING, cast

import pytest

from knightadder.engine import loader as loader_module
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
    loader.start(lambda: None)
    assert loader.engine() is engine
    assert loader.engine() is engine
    assert loader.ready.is_set()
    [(loaded_options, thread)] = calls
    assert loaded_options is options
    assert thread is not threading.current_thread()
    assert thread.daemon


def test_progress_is_told_step_by_step() -> None:
    heard: list[tuple[str | None, bool]] = []
    finished = threading.Event()

    def load(options: Options, report: Report) -> "Engine":
        report("compiling 1/2")
        report("compiling 2/2")
        return cast("Engine", object())

    def on_change() -> None:
        heard.append((loader.progress, loader.ready.is_set()))
        if loader.ready.is_set():
            finished.set()

    loader = Loader(Options(), load)
    assert loader.progress is None
    loader.start(on_change)
    assert finished.wait(TIMEOUT)
    assert heard == [("compiling 1/2", False), ("compiling 2/2", False), ("compiling 2/2", True)]


@pytest.mark.parametrize("failure", [ImportError("no numba here"), SystemExit(3), MemoryError()])
def test_a_failure_reaches_whoever_waits(failure: BaseException) -> None:
    def load(options: Options, report: Report) -> "Engine":
        raise failure

    loader = Loader(Options(), load)
    loader.start(lambda: None)
    with pytest.raises(EngineError, match=type(failure).__name__) as caught:
        loader.engine()
    assert caught.value.__cause__ is failure
    assert loader.ready.is_set()


def test_a_command_hears_each_step_and_gets_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = cast("Engine", object())
    heard: list[str] = []

    def load(options: Options, report: Report) -> "Engine":
        report("compiling 1/2")
        report("compiling 2/2")
        return engine

    monkeypatch.setattr(loader_module, "load_engine", load)
    assert load_and_report(Options(), heard.append) is engine
    assert heard == ["compiling 1/2", "compiling 2/2"]


def test_a_command_hears_of_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(options: Options, report: Report) -> "Engine":
        raise ImportError("no numpy here")

    monkeypatch.setattr(loader_module, "load_engine", load)
    with pytest.raises(EngineError, match="cannot be loaded: ImportError: no numpy here"):
        load_and_report(Options(), lambda step: None)


def test_ctrl_c_ends_the_loading_of_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(options: Options, report: Report) -> "Engine":
        raise KeyboardInterrupt

    monkeypatch.setattr(loader_module, "load_engine", load)
    with pytest.raises(KeyboardInterrupt):
        load_and_report(Options(), lambda step: None)


def test_the_protocol_imports_nothing_heavy() -> None:
    code = (
        "import sys, knightadder.protocols.uci, knightadder.engine.loader\n"
        "heavy = {'numpy', 'numba', 'llvmlite', 'chess', 'rich', 'knightadder.core', 'knightadder.engine.engine'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=TIMEOUT)
    assert printed.stdout.strip() == "[]"
