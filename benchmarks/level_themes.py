"""Shows the share of puzzles of each theme that each level of play solves, as a Markdown table.

The file contains puzzles with themes and ratings, such as Lichess's database (https://database.lichess.org/#puzzles).
For each theme, every level gets the same puzzles. A puzzle is solved if the engine finds all moves of the solution at
the first try; a mate other than the solution's mate also counts.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from pathlib import Path

import chess.engine

from knightadder import Engine
from knightadder.cli import exit_status
from knightadder.puzzles.puzzle import Puzzle
from knightadder.puzzles.reading import read_puzzles

LEVELS = (500, 1000, 1250, 1500, 1750, 2000, 2250, 2500)
THEMES = (
    *("mateIn1", "mateIn2", "mateIn3", "backRankMate", "hangingPiece", "fork", "pin", "skewer", "discoveredAttack"),
    *("trappedPiece", "advancedPawn", "deflection", "sacrifice", "defensiveMove", "quietMove", "zugzwang"),
)
FREE = chess.engine.Limit(nodes=10**9)  # no limit besides the level's own limit, which is lower


def solves(engine: Engine, puzzle: Puzzle) -> bool:
    """Return whether an engine finds all moves of a puzzle."""
    engine.new_game()
    for board, move in puzzle.solution.steps():
        found = engine.play(board, FREE).move
        if found != move:
            if found is None:
                return False
            after = board.copy(stack=False)
            after.push(found)
            return after.is_checkmate()
    return True


def drawn(puzzles: Sequence[Puzzle], theme: str, count: int) -> list[Puzzle]:
    """Return random puzzles of a theme, with a fixed seed."""
    fitting = [puzzle for puzzle in puzzles if theme in puzzle.themes]
    return random.Random(theme).sample(fitting, min(count, len(fitting)))


def main() -> int:
    """Print the table and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="puzzles with themes and ratings: .csv or .epd")
    parser.add_argument("--count", type=int, default=100, help="number of puzzles of each theme (default: 100)")
    parser.add_argument("--levels", type=int, nargs="+", default=LEVELS, metavar="ELO", help="levels of UCI_Elo")
    arguments = parser.parse_args()
    puzzles, complaints = read_puzzles(arguments.file)
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    heads = ["Theme", "Puzzles", "Mean rating", *map(str, arguments.levels)]
    print(f"| {' | '.join(heads)} |\n|---|{'--:|' * (len(heads) - 1)}", flush=True)
    with Engine(hash_mb=1) as engine:
        for theme in THEMES:
            sample = drawn(puzzles, theme, arguments.count)
            if not sample:
                continue
            rating = sum(puzzle.rating or 0 for puzzle in sample) / len(sample)
            shares = []
            for level in arguments.levels:
                engine.configure({"UCI_LimitStrength": True, "UCI_Elo": level})
                shares.append(sum(solves(engine, puzzle) for puzzle in sample) / len(sample))
            cells = [f"`{theme}`", str(len(sample)), f"{rating:.0f}", *(f"{share:.0%}" for share in shares)]
            print(f"| {' | '.join(cells)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(exit_status("level_themes", main))
