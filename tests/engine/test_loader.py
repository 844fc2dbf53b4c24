"""The loader: loads once in the background, tells how far it is, and says so when it fails."""

import threading
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from knightadder.core.compilation import core
from knightadder.engine import evaluator
from knightadder.engine.errors import EngineError, OptionError
from knightadder.engine.loader import Loader, OnStep, compile_core, load_engine
from knightadder.engine.options import Options
from knightadder.native.building import ImageError

if TYPE_CHECKING:
    from knightadder.engine.engine import Engine

TIMEOUT = 60.0


def test_the_engine_is_loaded_once_in_another_thread_with_the_options_given() -> None:
    calls: list[tuple[Options, threading.Thread]] = []
    engine = cast("Engine", object())

    def load(options: Options, report: OnStep) -> "Engine":
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

    def load(options: Options, report: OnStep) -> "Engine":
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


def fail_with(monkeypatch: pytest.MonkeyPatch, failure: BaseException) -> None:
    """Have the loading of the core fail."""

    def load(report: OnStep) -> None:
        raise failure

    monkeypatch.setattr(core, "load", load)


@pytest.mark.parametrize("failure", [ImportError("no numba here"), SystemExit(3), ZeroDivisionError()])
def test_a_defect_reaches_whoever_waits(monkeypatch: pytest.MonkeyPatch, failure: BaseException) -> None:
    fail_with(monkeypatch, failure)
    loader = Loader(Options())
    loader.start(lambda: None)
    for load in (loader.engine, loader.engine, lambda: load_engine(Options(), lambda step: None)):
        with pytest.raises(EngineError, match=f"^the engine cannot be loaded: {type(failure).__name__}:") as caught:
            load()
        assert caught.value.__cause__ is failure
    assert loader.ready.is_set()


def test_that_there_is_no_compiled_core_is_no_defect(monkeypatch: pytest.MonkeyPatch) -> None:
    fail_with(monkeypatch, ImageError("reinstall it"))
    with pytest.raises(EngineError, match=r"^the engine cannot be loaded: reinstall it$") as caught:
        load_engine(Options(), lambda step: None)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    "failure",
    [MemoryError("cannot get 5 bytes"), ImportError("libopenblas.so: failed to map segment from shared object")],
)
def test_a_lack_of_memory_is_no_defect(monkeypatch: pytest.MonkeyPatch, failure: Exception) -> None:
    fail_with(monkeypatch, failure)
    with pytest.raises(EngineError, match=r"^the engine cannot be loaded: not enough memory$") as caught:
        load_engine(Options(), lambda step: None)
    assert caught.value.__cause__ is None


def test_an_option_that_cannot_be_fulfilled_is_told_as_it_is() -> None:
    options = Options()
    options.set("EvalFile", "no such file")
    with pytest.raises(OptionError, match=r"^option EvalFile: ") as caught:
        load_engine(options, lambda step: None)
    assert caught.value.__cause__ is None


def test_ctrl_c_ends_the_loading_of_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    fail_with(monkeypatch, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        load_engine(Options(), lambda step: None)


def test_a_command_hears_each_step(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    heard: list[str] = []
    load = core.load

    def load_in_steps(report: OnStep = lambda step: None) -> None:
        report("compiling 1/2")
        report("compiling 2/2")
        load()

    monkeypatch.setattr(core, "load", load_in_steps)
    load_engine(Options(), heard.append).close()
    assert heard == ["compiling 1/2", "compiling 2/2"]
    compile_core()
    assert capsys.readouterr() == ("", "compiling 1/2\ncompiling 2/2\n")


def test_a_command_says_that_the_built_in_network_cannot_be_used(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(evaluator, "BUILT_IN_FILE", tmp_path / "none.nnue")
    compile_core()
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("knightadder: the built-in network cannot be used: cannot read ")
    assert line.endswith("; the classical evaluation is used instead")
