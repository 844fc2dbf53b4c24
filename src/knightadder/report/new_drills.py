"""Makes drills from the player's mistakes."""

from __future__ import annotations

from collections.abc import Iterable

import chess

from knightadder.drills.drill import Drill, shown_line
from knightadder.report.figures import MistakePuzzle
from knightadder.review.coach import KINDS


def drills_of(puzzles: Iterable[MistakePuzzle]) -> list[Drill]:
    """Return a drill for each puzzle."""
    return [_drill(puzzle) for puzzle in puzzles]


def _drill(puzzle: MistakePuzzle) -> Drill:
    game, move = puzzle.game, puzzle.mistake.move
    board = chess.Board(move.fen, chess960=game.chess960)
    return Drill(
        "mistake",
        board.fen(),
        tuple(shown_line(board, line) for _, _, line in sorted(puzzle.good, key=lambda choice: -choice[1])),
        KINDS[puzzle.mistake.move.fault or "other"],
        game.opening,
        game.chess960,
        played=move.uci,
        about=f"Against {game.opponent_and_date}, move {move.number}",
        link=game.link,
    )
