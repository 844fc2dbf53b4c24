"""Verifies puzzles: an external engine searches each position of their solutions.

The engine agrees if its best move is the solution's move; for a mate in one, if the solution's move mates. A position
is ambiguous if the winning chances of the second-best move (by Lichess's formula, from -1 to 1) are within 0.3 of the
best move's; for a mate in one, if another move also mates. Exit status 1 if the engine agrees with less than 98 % of
the moves, or if a position is ambiguous.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import chess
import chess.engine

from knightadder.cli import exit_status
from knightadder.puzzles.puzzle import Puzzle
from knightadder.puzzles.reading import read_puzzles
from knightadder.review.accuracy import winning_chances
from knightadder.rules import mates
from knightadder.uci.client import resolve_command

LEAST_AGREEMENT = 0.98
SAME = 0.3  # difference in winning chances below which moves are equally good


def check(
    engine: chess.engine.SimpleEngine, board: chess.Board, move: chess.Move, limit: chess.engine.Limit
) -> tuple[bool, bool, str]:
    """Return whether an engine agrees with a move, whether the position is ambiguous, and what the engine found."""
    mating = [other for other in list(board.legal_moves) if board.gives_check(other) and mates(board, other)]
    if mating:
        return move in mating, len(mating) > 1, f"mates in one: {' '.join(map(board.san, mating))}"
    lines = engine.analyse(board, limit, multipv=2, game=object())
    scores = [line["score"].relative for line in lines]
    moves = [line["pv"][0] for line in lines]
    text = ", ".join(f"{board.san(each)} {score}" for each, score in zip(moves, scores, strict=True))
    chances = [winning_chances(score) for score in scores]
    return moves[0] == move, len(chances) > 1 and chances[0] - chances[1] < SAME, text


def positions(puzzles: list[Puzzle]) -> Iterator[tuple[Puzzle, int, chess.Board, chess.Move]]:
    """Yield each position in which the solver moves, with its puzzle, the number of the move, and the move."""
    for puzzle in puzzles:
        for number, (board, move) in enumerate(puzzle.solution.steps(), 1):
            yield puzzle, number, board.copy(stack=False), move


def main() -> int:
    """Verify the puzzles and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="puzzles: .csv, .epd or .pgn")
    parser.add_argument(
        "--engine", default="stockfish", metavar="CMD", help="command of the engine (default: stockfish)"
    )
    parser.add_argument("--nodes", type=int, default=1_000_000, help="nodes per position (default: a million)")
    parser.add_argument("--hash", type=int, default=128, help="size of the engine's hash table in MB (default: 128)")
    arguments = parser.parse_args()
    puzzles, complaints = read_puzzles(arguments.file)
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    count = agreed = ambiguous = 0
    failed: set[str] = set()
    with chess.engine.SimpleEngine.popen_uci(resolve_command(arguments.engine)) as engine:
        engine.configure({"Hash": arguments.hash})
        name = engine.id.get("name", arguments.engine)
        for puzzle, number, board, move in positions(puzzles):
            agrees, is_ambiguous, text = check(engine, board, move, chess.engine.Limit(nodes=arguments.nodes))
            count, agreed, ambiguous = count + 1, agreed + agrees, ambiguous + is_ambiguous
            if not agrees or is_ambiguous:
                failed.add(puzzle.id)
                what = " and ".join(["another move"] * (not agrees) + ["ambiguous"] * is_ambiguous)
                print(f"{puzzle.id}, move {number}, {board.san(move)}: {what} ({text})  {board.fen()}", flush=True)
    if not count:
        print(f"there is no puzzle in {arguments.file}", file=sys.stderr)
        return 1
    print(
        f"{name}, {arguments.nodes} nodes: agrees with {agreed} of {count} moves ({agreed / count:.1%}) of "
        f"{len(puzzles)} puzzles; {ambiguous} ambiguous; {len(puzzles) - len(failed)} puzzles without an objection"
    )
    return 0 if agreed >= LEAST_AGREEMENT * count and not ambiguous and not complaints else 1


if __name__ == "__main__":
    sys.exit(exit_status("puzzles_check", main))
