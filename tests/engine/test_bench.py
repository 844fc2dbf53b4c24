"""The benchmark."""

import chess
import pytest

from knightadder.engine.bench import BENCH_POSITIONS, run_bench
from knightadder.engine.engine import Engine
from knightadder.engine.limits import Limits

# A commit that changes what search or evaluation find changes these, as its message has `Bench: N`; any other leaves
# them as they are, on every machine.
SIGNATURE, CLASSICAL_SIGNATURE = 525_356, 103_461


@pytest.mark.parametrize(
    ("evaluation", "depth", "signature"), [("nnue", 13, SIGNATURE), ("classical", 9, CLASSICAL_SIGNATURE)]
)
def test_search_and_evaluation_find_what_they_found(
    engine: Engine, evaluation: str, depth: int, signature: int
) -> None:
    engine.set_option("EvalType", evaluation)
    assert run_bench(engine, depth, lambda line: None)[0] == signature


def test_its_positions_are_legal_and_differ() -> None:
    assert len(set(BENCH_POSITIONS)) == len(BENCH_POSITIONS)
    assert all(chess.Board(fen).is_valid() and not chess.Board(fen).is_game_over() for fen in BENCH_POSITIONS)


def test_its_node_count_is_the_same_at_every_run_whatever_came_before(engine: Engine) -> None:
    lines: list[str] = []
    nodes, seconds = run_bench(engine, 6, lines.append)
    assert seconds > 0
    assert len(lines) == len(BENCH_POSITIONS)
    assert nodes == sum(int(line.split()[-2]) for line in lines)
    engine.go(Limits(depth=7), lambda info: None, lambda result: None)
    engine.wait()
    again: list[str] = []
    assert run_bench(engine, 6, again.append)[0] == nodes
    assert again == lines
    fresh = Engine()
    assert run_bench(fresh, 6, lambda line: None)[0] == nodes
    fresh.close()
