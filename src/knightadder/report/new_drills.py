"""Makes drills from the player's mistakes."""

from __future__ import annotations

from collections.abc import Iterable

import chess

from knightadder.drills.drill import Drill
from knightadder.report.figures import MistakePuzzle
from knightadder.review.coach import KINDS

_SHOWN_PLIES = 7  # maximum length, in plies, of a shown line that begins with a right move


def drills_of(puzzles: Iterable[MistakePuzzle]) -> list[Drill]:
    """Return a drill for each puzzle."""
    return [_drill(puzzle) for puzzle in puzzles]


def _drill(puzzle: MistakePuzzle) -> Drill:
    game, move = puzzle.game, puzzle.mistake.move
    board = chess.Board(move.fen, chess960=game.chess960)
    return Drill(
        "mistake",
        board.fen(),
        tuple(_line(board, line) for _, _, line in sorted(puzzle.good, key=lambda choice: -choice[1])),
        KINDS[puzzle.mistake.move.fault or "other"],
        game.opening,
        game.chess960,
        played=move.uci,
        about=f"Against {game.opponent}" + (f", {game.date}" if game.date else "") + f", move {move.number}",
        link=game.link,
    )


def _line(board: chess.Board, moves: Iterable[chess.Move]) -> tuple[str, ...]:
    """Return a line in UCI notation, cut so that the side that begins also makes the last move."""
    board, line = board.copy(stack=False), list[str]()
    for move in moves:
        line.append(board.uci(move))
        board.push(move)
    most = min(len(line), _SHOWN_PLIES)
    return tuple(line[: most - (most + 1) % 2])
