"""Check the perft counts of a whole suite: every position of an EPD file, at every depth in the file.

Prints a line for each position that has a wrong count, with its first wrong depth. Exit status 1 if a count is wrong.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from perft_epd import PerftRow, read_perft_suite

from knightadder.cli import exit_status
from knightadder.engine.engine import Engine


def first_error(engine: Engine, row: PerftRow, max_nodes: int | None) -> tuple[str | None, int]:
    """Count a position at all its depths; return a text on the first wrong depth, or None, and the nodes counted.
    Depths with more than `max_nodes` leaf nodes are left out. The engine's position is replaced.
    """
    engine.set_position(row.fen)
    nodes = 0
    for depth, expected in sorted(row.counts.items()):
        if max_nodes is not None and expected > max_nodes:
            break
        found = sum(engine.perft(depth).values())
        nodes += found
        if found != expected:
            return f"depth {depth}: {found:,} instead of {expected:,}", nodes
    return None, nodes


def main() -> int:
    """Run the suite; return exit status 1 after a mismatch."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="perft suite: FEN ;D1 n ;D2 n ...")
    parser.add_argument("--max-nodes", type=int, help="leave out depths with more leaf nodes")
    parser.add_argument("--chess960", action="store_true", help="set UCI_Chess960 (FENs are read either way)")
    arguments = parser.parse_args()

    engine = Engine()
    engine.set_option("UCI_Chess960", str(arguments.chess960).lower())
    rows = read_perft_suite(arguments.file)
    wrong = total = 0
    start = time.process_time()
    for number, row in enumerate(rows, 1):
        error, nodes = first_error(engine, row, arguments.max_nodes)
        total += nodes
        if error:
            wrong += 1
            print(f"WRONG {row.fen}  {error}")
        elif sys.stderr.isatty():
            print(f"\r{number}/{len(rows)}  {total:,} nodes", end="", file=sys.stderr, flush=True)
    seconds = time.process_time() - start
    engine.close()
    if sys.stderr.isatty():
        print(file=sys.stderr)
    speed = total / 1e6 / max(seconds, 1e-9)
    print(f"{len(rows) - wrong} of {len(rows)} positions right, {total:,} nodes, {speed:.0f} M nodes per CPU second")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(exit_status("perft_suite", main))
