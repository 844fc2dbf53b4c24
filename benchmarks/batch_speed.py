"""Measure the library: analyse_many beside the engine's own benchmark, evaluate_many, and the cost of short calls.

The positions are from quick games of the engine against itself, with random openings. The measurements of a round run
one after the other in this process; the ratios count, and their median is shown.
"""

import argparse
import random
import statistics
import time
from collections.abc import Callable

import chess
from chess.engine import Limit
from make_chess960_perft import python_chess_perft

from knightadder import Engine, analyse_many, evaluate_many, legal_moves, pack, perft
from knightadder.engine.bench import run_bench
from knightadder.engine.engine import Engine as Core

POSITIONS, NODES = 1_000, 20_000
EVALUATIONS = 2_000_000
WANTED_RATIO, WANTED_EVALUATIONS = 0.95, 2_000_000
WANTED_CALL = 300.0  # target for the time of a short call, in microseconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--positions", type=int, default=POSITIONS, help="positions to analyse (default: %(default)s)")
    parser.add_argument("--nodes", type=int, default=NODES, help="nodes per position (default: %(default)s)")
    parser.add_argument(
        "--evaluations", type=int, default=EVALUATIONS, help="positions to evaluate (default: %(default)s)"
    )
    parser.add_argument("--rounds", type=int, default=3, help="default: %(default)s")
    arguments = parser.parse_args()

    boards = play_games(arguments.positions)
    measure_analyses(boards, arguments.nodes, arguments.rounds)
    measure_evaluations(boards, arguments.evaluations, arguments.rounds)
    measure_calls(boards, arguments.rounds)


def play_games(count: int) -> list[chess.Board]:
    """Return positions of quick games, each with the moves that led to it."""
    chance = random.Random(1)
    boards: list[chess.Board] = []
    with Engine(hash_mb=1) as engine:
        while len(boards) < count:
            board = chess.Board()
            for _ in range(8):
                board.push(chance.choice(list(board.legal_moves)))
                if board.is_game_over():
                    break
            while not board.is_game_over(claim_draw=True) and board.ply() < 120 and len(boards) < count:
                boards.append(board.copy())
                move = engine.play(board, Limit(nodes=200)).move
                assert move is not None
                board.push(move)
    return boards


def measure_analyses(boards: list[chess.Board], nodes: int, rounds: int) -> None:
    core, limit = Core(), Limit(nodes=nodes)
    analyse_many(boards[:4], limit)  # loads the compiled code
    bench, alone, together = [], [], []
    for _ in range(rounds):
        searched, seconds = run_bench(core, on_line=lambda line: None)
        bench.append(searched / seconds)
        alone.append(nodes_per_second(boards, limit, 1))
        together.append(nodes_per_second(boards, limit, 2))
    print(f"{len(boards)} positions at {nodes} nodes, {rounds} rounds, medians")
    print(f"  knightadder bench          {statistics.median(bench):12,.0f} nodes/s")
    for name, speeds, wanted in (
        ("1 worker ", alone, WANTED_RATIO),
        ("2 workers", together, 2 * WANTED_RATIO),
    ):
        ratio = statistics.median(speed / yardstick for speed, yardstick in zip(speeds, bench, strict=True))
        print(f"  analyse_many, {name}    {statistics.median(speeds):12,.0f} nodes/s   {ratio:.2f} x bench", end="")
        print(f"   (wanted: {wanted:.2f})")
    gain = statistics.median(two / one for two, one in zip(together, alone, strict=True))
    print(f"  2 workers to 1             {gain:12.2f}")


def nodes_per_second(boards: list[chess.Board], limit: Limit, workers: int) -> float:
    started = time.perf_counter()
    found = analyse_many(boards, limit, workers=workers)
    return sum(analysis.best.nodes for analysis in found) / (time.perf_counter() - started)


def measure_evaluations(boards: list[chess.Board], count: int, rounds: int) -> None:
    fens = followers(boards)
    fens *= -(-count // len(fens))
    records = pack(fens)
    print(f"{len(fens)} positions, positions a second of processor time and of the clock, best of {rounds}")
    rows: list[tuple[str, Callable[[], object]]] = [
        ("evaluate_many, PeSTO, packed, 1 worker ", lambda: evaluate_many(records, "pesto", workers=1)),
        ("evaluate_many, PeSTO, packed, 2 workers", lambda: evaluate_many(records, "pesto", workers=2)),
        ("evaluate_many, PeSTO, FENs, 1 worker   ", lambda: evaluate_many(fens, "pesto", workers=1)),
        ("evaluate_many, classical, packed, 1    ", lambda: evaluate_many(records, "classical", workers=1)),
        ("evaluate_many, network, packed, 1      ", lambda: evaluate_many(records, "nnue", workers=1)),
        ("evaluate_many, network, packed, 2      ", lambda: evaluate_many(records, "nnue", workers=2)),
        ("evaluate_many, network, FENs, 1        ", lambda: evaluate_many(fens, "nnue", workers=1)),
        ("pack, FENs                             ", lambda: pack(fens)),
    ]
    for number, (name, work) in enumerate(rows):
        work()
        times = [timed(work) for _ in range(rounds)]
        busy, clock = (len(fens) / min(column) for column in zip(*times, strict=True))
        wanted = f"   (wanted: {WANTED_EVALUATIONS:,})" if number == 0 else ""
        print(f"  {name} {busy:12,.0f} {clock:12,.0f} {wanted}")


def followers(boards: list[chess.Board]) -> list[str]:
    """Return the positions after all legal moves: tens of thousands, so that few are already in a hash table."""
    fens = []
    for board in boards:
        for move in board.legal_moves:
            after = board.copy(stack=False)
            after.push(move)
            fens.append(after.fen())
    return fens


def measure_calls(boards: list[chess.Board], rounds: int) -> None:
    """Print the CPU time of short calls, in all threads of this process, and compare it with python-chess."""
    bare = [board.copy(stack=False) for board in boards]
    engine, limit = Engine(), Limit(depth=1)

    def best(work: Callable[[], object], count: int) -> float:
        work()
        times = []
        for _ in range(rounds):
            started = time.process_time()
            work()
            times.append((time.process_time() - started) / count)
        return min(times) * 1e6

    print(f"{len(bare)} positions without moves, processor time of a call, best of {rounds}")
    rows: list[tuple[str, Callable[[], object]]] = [
        ("Engine.analyse, depth 1", lambda: [engine.analyse(board, limit) for board in bare]),
        ("analyse_many, depth 1, 1 worker", lambda: analyse_many(bare, limit, workers=1)),
        ("analyse_many, depth 1, 2 workers", lambda: analyse_many(bare, limit, workers=2)),
        ("legal_moves", lambda: [legal_moves(board) for board in bare]),
        ("python-chess, list(board.legal_moves)", lambda: [list(board.legal_moves) for board in bare]),
    ]
    for name, work in rows:
        wanted = f"   (wanted: {WANTED_CALL:.0f})" if "depth 1" in name else ""
        print(f"  {name:38} {best(work, len(bare)):8.0f} µs{wanted}")
    leaves = perft(chess.Board(), 6)
    ours = best(lambda: perft(chess.Board(), 6), leaves)
    theirs = best(lambda: python_chess_perft(chess.Board(), 4), python_chess_perft(chess.Board(), 4))
    print(f"  perft counts a leaf {theirs / ours:,.0f} times as fast as python-chess")


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Return the CPU time of all threads, and the elapsed time, in seconds."""
    busy, clock = time.process_time(), time.perf_counter()
    work()
    return time.process_time() - busy, time.perf_counter() - clock


if __name__ == "__main__":
    main()
