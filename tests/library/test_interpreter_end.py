"""The end of the interpreter: what user code still does with engines then neither hangs nor prints an error."""

import subprocess
import sys

import pytest
from waiting import TIMEOUT

HOLDER = """
import chess, chess.engine, knightadder
class Holder:
    def __init__(self, engine):
        self.engine = engine
    def __del__(self):
        self.engine.close()
"""
GENERATOR = """
import chess, chess.engine, knightadder
def lines():
    with {block}:
        yield from search
generator = lines()
next(generator)
"""


def end_of(script: str) -> tuple[int, str, str]:
    """Run a script, and return its exit status, its output and its errors."""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=TIMEOUT)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    "script",
    [
        "holder = Holder(knightadder.Engine()); holder.engine.play('startpos', chess.engine.Limit(depth=2))",
        "holder = Holder(knightadder.Engine()); holder.search = holder.engine.stream('startpos')",
        "holder = Holder(knightadder.EnginePool(1)); holder.engine.play('startpos', chess.engine.Limit(depth=2))",
        "holder = Holder(knightadder.SimpleEngine()); holder.engine.play(chess.Board(), chess.engine.Limit(depth=2))",
        "holder = Holder(knightadder.SimpleEngine()); holder.search = holder.engine.analysis(chess.Board())",
        "Holder.__del__ = lambda self: self.engine.quit()\nholder = Holder(knightadder.SimpleEngine())",
    ],
)
def test_an_object_that_closes_its_engine_when_it_is_deleted(script: str) -> None:
    assert end_of(HOLDER + script) == (0, "", "")


@pytest.mark.parametrize(
    "block",
    [
        "knightadder.Engine() as engine, engine.stream('startpos') as search",
        "knightadder.EnginePool(1) as pool, pool.lend() as engine, engine.stream('startpos') as search",
        "knightadder.SimpleEngine() as engine, engine.analysis(chess.Board()) as search",
    ],
)
def test_a_generator_that_is_left_within_a_search(block: str) -> None:
    assert end_of(GENERATOR.format(block=block)) == (0, "", "")


@pytest.mark.parametrize("kind", ["Engine", "SimpleEngine"])
def test_a_search_that_begins_too_late_is_refused(kind: str) -> None:
    late = f"""
def play(self, error=chess.engine.EngineError, other=knightadder.EngineError, board=chess.Board()):
    try:
        self.engine.play(board, limit)
    except (error, other) as refusal:
        print(refusal)
limit = chess.engine.Limit(depth=2)
Holder.__del__ = play
holder = Holder(knightadder.{kind}())
holder.engine.play(chess.Board(), limit)
"""
    status, output, errors = end_of(HOLDER + late)
    assert (status, errors) == (0, "")
    assert output.endswith("the interpreter is ending\n")
