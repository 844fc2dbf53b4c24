"""Count the nodes that `go mate N` needs for the mates of a suite, for this engine and other engines.

A position counts as solved if a mate in at most N moves is reported within the limit. Each engine begins each position
with an empty hash table.
"""

from __future__ import annotations

import argparse
import re
import shutil
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

from uci_process import UciProcess

from knightadder.cli import exit_status

_PATIENCE = 600.0  # seconds until an engine must be ready
_FOUND = re.compile(r" score mate (\d+) (?!upperbound|lowerbound).*?nodes (\d+)")


def nodes_to_mate(engine: UciProcess, position: str, moves: int, limit: int) -> int | None:
    """Return the number of nodes after which an engine reports a mate in at most `moves` moves, or None."""
    engine.new_game(_PATIENCE)
    engine.send(f"position fen {position} 0 1", f"go mate {moves} nodes {limit}")
    for line in engine.read_until("bestmove", _PATIENCE):
        found = _FOUND.search(line)
        if found and 0 < int(found[1]) <= moves:
            return int(found[2])
    return None


def summary(nodes: Sequence[int | None]) -> str:
    """Return how many mates were found, and the nodes that they needed; None stands for a mate that was not found."""
    solved = sorted(count for count in nodes if count is not None)
    text = f"{len(solved)} of {len(nodes)}"
    if solved:
        text += f"; nodes: median {statistics.median(solved):.0f}, 90 % within {solved[len(solved) * 9 // 10]}, "
        text += f"most {solved[-1]}"
    return text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="EPD file of mates in N moves")
    parser.add_argument("moves", type=int, help="N")
    parser.add_argument("--nodes", type=int, default=300_000, help="limit for each position (default: 300000)")
    parser.add_argument("--engine", action="append", help="command of a UCI engine (default: knightadder, stockfish)")
    arguments = parser.parse_args()
    positions = [" ".join(line.split()[:4]) for line in arguments.file.read_text("utf-8").splitlines() if line.strip()]
    for command in arguments.engine or [
        f"{sys.executable} -m knightadder",
        shutil.which("stockfish") or "/usr/games/stockfish",
    ]:
        with UciProcess(command) as engine:
            engine.handshake(_PATIENCE)
            nodes = [nodes_to_mate(engine, position, arguments.moves, arguments.nodes) for position in positions]
        print(f"{command}: {summary(nodes)}")
    return 0


if __name__ == "__main__":
    sys.exit(exit_status("mates", main))
