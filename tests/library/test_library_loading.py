"""The first call that has to compile says so once, can be interrupted, and needs nothing that `warmup` has not done."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from knightadder.core.compilation import core
from knightadder.engine.errors import EngineError
from knightadder.library.loading import load_core
from knightadder.native import program
from knightadder.native.building import ImageError

# Each of the library's functions that the core does the work of, in a process where that has not been loaded.
FIRST_CALLS = """
import io, logging, sys
import chess, chess.pgn
import knightadder as k
from chess.engine import Limit
from knightadder.core.compilation import core
from knightadder.native.building import ImageError

FEN, LIMIT, game = chess.STARTING_FEN, Limit(nodes=1), chess.pgn.read_game(io.StringIO("1. e4 *"))
CALLS = {
    "Engine": lambda: k.Engine().close(),
    "analyse_many": lambda: k.analyse_many([FEN], LIMIT),
    "analyse_iter": lambda: list(k.analyse_iter([FEN], LIMIT)),
    "annotate_game": lambda: k.annotate_game(game, LIMIT),
    "divide": lambda: k.divide(FEN, 1),
    "evaluate": lambda: k.evaluate(FEN).pieces,
    "evaluate_classical": lambda: k.evaluate(FEN, "classical").terms,
    "evaluate_iter": lambda: list(k.evaluate_iter([FEN])),
    "evaluate_many": lambda: k.evaluate_many([FEN]),
    "legal_moves": lambda: k.legal_moves(FEN),
    "pack": lambda: k.unpack(k.pack([FEN])),
    "perft": lambda: k.perft(FEN, 1),
    "see": lambda: k.see(FEN, chess.Move.from_uci("e2e4")),
}
"""
TOLD = """
def build(report):
    for step in ("waiting for another engine", "compiling", "compiling 1/2", "compiling 2/2"):
        report(step)
    raise ImageError("it is only a test")

core.read, core._build_once = lambda file: None, build
for name, run in CALLS.items():
    lines = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append((record.levelname, record.name, record.getMessage()))
    logging.getLogger().handlers = [handler]
    try:
        run()
    except k.EngineError as error:
        print(name, lines, error)
"""
COVERED = """
def build(report):
    raise AssertionError("there is something to compile")

core._build_once = build
for name, run in CALLS.items():
    run()
    print(name)
"""


def run(program: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.skipif(program.INTERPRETED, reason="nothing is compiled then")
def test_each_function_says_once_that_it_compiles() -> None:
    line = (
        "WARNING",
        "knightadder",
        "compiling the core, since its sources have changed: this takes about 20 seconds, only once",
    )
    told = run(FIRST_CALLS + TOLD)
    assert len(told) == 13
    for each in told:
        assert each.endswith(f" [{line}] the engine cannot be loaded: it is only a test")


def test_what_warmup_does_is_all_there_is_to_do() -> None:
    core.load()  # as `warmup` does; this leaves the image beside the sources
    assert len(run(FIRST_CALLS + COVERED)) == 13


@pytest.mark.skipif(os.name == "nt", reason="SIGINT cannot be sent to a process there")
@pytest.mark.skipif(program.INTERPRETED, reason="nothing is compiled then")
def test_the_compiler_itself_can_be_interrupted(tmp_path: Path) -> None:
    program = (
        "import knightadder\n"
        "from knightadder.core.compilation import core\n"
        f"core.folder = type(core.folder)({str(tmp_path)!r})\n"  # where no image is
        "knightadder.evaluate('startpos')\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program], stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stderr is not None
    first = process.stderr.readline()
    assert first.startswith("compiling the core")
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    rest = process.stderr.read().splitlines()
    process.stderr.close()
    assert process.wait(120) == -signal.SIGINT
    assert rest[-1] == "KeyboardInterrupt: the core is not compiled yet" and len(rest) < 20, rest
    assert not list(tmp_path.glob("*.image"))


@pytest.mark.parametrize("error", [ImageError, FileNotFoundError])
def test_a_core_that_cannot_be_loaded_is_an_error_of_the_engine(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def fail(report: object) -> None:
        raise error("it is missing")

    monkeypatch.setattr(core, "load", fail)
    with pytest.raises(EngineError, match=r"^the engine cannot be loaded: it is missing$"):
        load_core()
