"""Perft speed against Stockfish's ``go perft``, interleaved in one run, in leaf nodes per CPU second.

Neither engine makes the moves of the last ply ("bulk counting"): Stockfish lists the moves, Knightadder counts their
target squares. Stockfish's perft uses one thread; its CPU time is read from ``/proc`` (Linux), in steps of 10 ms.
"""

from __future__ import annotations

import argparse
import sys
import time
from statistics import median

from perft_epd import KIWIPETE, START
from uci_process import UciProcess

from knightadder.engine.engine import Engine

# Name, position, depth in plies, and known number of leaf nodes.
POSITIONS = (
    ("startpos 6", START, 6, 119_060_324),
    ("kiwipete 5", KIWIPETE, 5, 193_690_690),
)
WANTED = 1.9


def our_speed(engine: Engine, fen: str, depth: int, expected: int) -> float:
    """Return the leaf nodes per CPU second of Knightadder, in this process."""
    engine.set_position(fen)
    start = time.process_time()
    nodes = sum(engine.perft(depth).values())
    seconds = time.process_time() - start
    if nodes != expected:
        raise SystemExit(f"Knightadder counts {nodes:,} instead of {expected:,}: {fen}")
    return nodes / seconds


def stockfish_speed(stockfish: UciProcess, fen: str, depth: int, expected: int) -> float:
    """Return the leaf nodes per CPU second of Stockfish, in its own process."""
    start = stockfish.cpu_seconds()
    stockfish.send(f"position fen {fen}", f"go perft {depth}")
    nodes = int(stockfish.read_until("Nodes searched:", timeout=300)[-1].split(":")[1])
    seconds = stockfish.cpu_seconds() - start
    if nodes != expected:
        raise SystemExit(f"Stockfish counts {nodes:,} instead of {expected:,}: {fen}")
    return nodes / max(seconds, 0.01)


def main() -> int:
    """Print speeds and ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stockfish", default="stockfish", help="command of Stockfish (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=7, help="measurements of each (default: %(default)s)")
    arguments = parser.parse_args()

    engine = Engine()
    our_speed(engine, START, 4, 197_281)
    print("leaf nodes per CPU second, in millions: best (median)")
    print(f"{'':12}{'Knightadder':>16}{'Stockfish':>16}{'ratio':>16}")
    with UciProcess(arguments.stockfish) as stockfish:
        stockfish.send("uci", "isready")
        name = next(line for line in stockfish.read_until("readyok", timeout=30) if line.startswith("id name"))
        for label, fen, depth, expected in POSITIONS:
            ours, theirs = [], []
            for _ in range(arguments.rounds):
                ours.append(our_speed(engine, fen, depth, expected) / 1e6)
                theirs.append(stockfish_speed(stockfish, fen, depth, expected) / 1e6)
            print(
                f"{label:12}"
                f"{f'{max(ours):.0f} ({median(ours):.0f})':>16}"
                f"{f'{max(theirs):.0f} ({median(theirs):.0f})':>16}"
                f"{f'{max(ours) / max(theirs):.2f} ({median(ours) / median(theirs):.2f})':>16}"
            )
    engine.close()
    print(f"against {name.removeprefix('id name ')}, {arguments.rounds} rounds; wanted: at least {WANTED}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
