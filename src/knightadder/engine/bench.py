"""The benchmark: a fixed search of fixed positions. Its node count changes only if the engine's play changes."""

import time
from collections.abc import Callable

from knightadder.engine.engine import Engine
from knightadder.engine.info import Info, Result
from knightadder.engine.limits import BENCH_DEPTH, Limits

# Openings, middlegames and endgames from well-known test suites.
BENCH_POSITIONS = (
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
    "1k1r4/pp1b1R2/3q2pp/4p3/2B5/4Q3/PPP2B2/2K5 b - - 0 1",
    "2q1rr1k/3bbnnp/p2p1pp1/2pPp3/PpP1P1P1/1P2BNNP/2BQ1PRK/7R b - - 0 1",
    "rnbqkb1r/p3pppp/1p6/2ppP3/3N4/2P5/PPP1QPPP/R1B1KB1R w KQkq - 0 1",
    "r1b2rk1/2q1b1pp/p2ppn2/1p6/3QP3/1BN1B3/PPP3PP/R4RK1 w - - 0 1",
    "2r3k1/pppR1pp1/4p3/4P1P1/5P2/1P4K1/P1P5/8 w - - 0 1",
    "r2qnrnk/p2b2b1/1p1p2pp/2pPpp2/1PP1P3/PRNBB3/3QNPPP/5RK1 w - - 0 1",
    "8/k7/3p4/p2P1p2/P2P1P2/8/8/K7 w - - 0 1",
    "8/8/1p1r1k2/p1pPN1p1/P3KnP1/1P6/8/3R4 b - - 0 1",
)


def run_bench(engine: Engine, depth: int = BENCH_DEPTH, on_line: Callable[[str], None] = print) -> tuple[int, float]:
    """Search all positions to a fixed depth, each from a cleared state; return the number of nodes and the seconds. The
    engine must be idle, and loses its position. `on_line` receives a line of text for each position.
    """
    nodes, seconds = 0, 0.0
    for number, fen in enumerate(BENCH_POSITIONS, 1):
        engine.new_game()
        engine.set_position(fen)
        results: list[Result] = []
        started = time.perf_counter()
        engine.go(Limits(depth=depth), lambda info: None, results.append)
        engine.wait()
        seconds += time.perf_counter() - started
        info = results[0].info
        assert isinstance(info, Info)
        nodes += info.nodes
        on_line(f"{number:2}/{len(BENCH_POSITIONS)}  {results[0].best_move:5}  {info.nodes:10} nodes")
    return nodes, seconds
