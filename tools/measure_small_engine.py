"""Measure what each technique saves the small engine of the book, into docs/small_engine/savings.json.

It searches some positions to a fixed depth: with all techniques, then with fewer and fewer, and then with all but one.
The large engine's perft counts the nodes of plain minimax. The numbers of nodes are the same on every machine, but the
seconds are not. A search stops at a maximum number of nodes. It takes a minute or two.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from knightadder.engine.loader import load_engine
from knightadder.engine.options import Options

ROOT = Path(__file__).parents[1]
SAVINGS = ROOT / "docs" / "small_engine" / "savings.json"
sys.path.insert(0, str(ROOT / "docs"))

# A Ruy Lopez, a middle game with an isolated pawn, an ending of rook and knight each, and a rook ending.
POSITIONS = (
    "r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3",
    "r1bq1rk1/pp2bppp/2n2n2/3p4/3P4/2NB1N2/PP3PPP/R1BQ1RK1 w - - 4 10",
    "4r1k1/pp3ppp/2p2n2/8/3P4/2N1P3/PP3PPP/3R2K1 w - - 0 20",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
)
DEPTH = 4
MOST_NODES = 200_000  # maximum nodes per position


def measure(techniques: Sequence[str], depth: int = DEPTH) -> dict[str, object]:
    """Search all positions; return the nodes, the CPU seconds, and whether all depths were finished."""
    from small_engine.board import from_fen
    from small_engine.search import Search

    nodes, finished, began = 0, True, time.process_time()
    for fen in POSITIONS:
        search = Search(techniques)
        search.stop = lambda search=search: search.nodes >= MOST_NODES
        reached = sum(1 for _ in search.deepen(from_fen(fen), depth))
        nodes += search.nodes
        finished &= reached == depth
    return {"nodes": nodes, "seconds": round(time.process_time() - began, 1), "finished": finished}


def count_all() -> int:
    """Return the number of positions up to `DEPTH`; plain minimax would visit all of them."""
    engine = load_engine(Options(), lambda step: None)
    nodes = 0
    for fen in POSITIONS:
        engine.set_position(fen)
        nodes += 1 + sum(sum(engine.perft(plies).values()) for plies in range(1, DEPTH + 1))
    engine.close()
    return nodes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--out", type=Path, default=SAVINGS, help="output file (default: docs/small_engine/savings.json)"
    )
    out = parser.parse_args().out
    from small_engine.search import TECHNIQUES

    found: dict[str, dict[str, object]] = {"minimax": {"nodes": count_all()}, "with": {}, "without": {}}
    for count in range(len(TECHNIQUES), 0, -1):
        found["with"][TECHNIQUES[count - 1]] = result = measure(TECHNIQUES[:count])
        print("with all up to", TECHNIQUES[count - 1], result, flush=True)
    for left_out in TECHNIQUES[1:]:
        found["without"][left_out] = result = measure([name for name in TECHNIQUES if name != left_out])
        print("without", left_out, result, flush=True)
    out.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
