"""Evaluates the positions of a game: by which engine and how long, the caller says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import chess
import chess.engine
import chess.pgn
from chess.engine import Cp, Mate, PovScore

from knightadder.library.results import Analysis

# Nobody plays through a longer line.
_LINE_PLIES = 12


class Analyst(Protocol):
    """What of `knightadder.Engine` is needed."""

    def new_game(self) -> None:
        """Forget what earlier searches learnt."""

    def analyse(self, board: chess.Board, limit: chess.engine.Limit, *, multipv: int = 1) -> Analysis:
        """Analyse a position."""

    def stop(self) -> None:
        """End the running search."""


@dataclass(frozen=True, slots=True)
class Variation:
    """A line that the engine found.

    Attributes
    ----------
    score : chess.engine.PovScore
        Where it leads.
    moves : tuple of chess.Move
        At least one.
    """

    score: PovScore
    moves: tuple[chess.Move, ...]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What the engine says of a position.

    Attributes
    ----------
    score : chess.engine.PovScore
        Of the best line.
    depth : int
        How deep it looked, in plies; 0 where the game is over.
    variations : tuple of Variation
        The best lines, the best first; none where the game is over.
    """

    score: PovScore
    depth: int
    variations: tuple[Variation, ...]


def positions(game: chess.pgn.Game) -> list[chess.Board]:
    """Give the position that a game begins with and those after each move, with the moves before."""
    board = game.board()
    boards = [board.copy()]
    for move in game.mainline_moves():
        board.push(move)
        boards.append(board.copy())
    return boards


def evaluate(
    boards: Sequence[chess.Board],
    analyst: Analyst,
    limit: chess.engine.Limit,
    multipv: int = 1,
    on_position: Callable[[], None] = lambda: None,
) -> list[Evaluation | None]:
    """Evaluate the positions of a game.

    Parameters
    ----------
    boards : sequence of chess.Board
        The positions, see `positions`.
    analyst : Analyst
        Who evaluates; with nothing left from other games, so that the result depends on nothing but the arguments.
    limit : chess.engine.Limit
        How long, for each position.
    multipv : int
        Number of best lines.
    on_position : callable
        Called after each; what it raises ends the work.

    Returns
    -------
    list of Evaluation or None
        For each position; ``None`` for one that cannot occur, as after a null move by a side in check.

    Raises
    ------
    EngineError
        If a search fails.
    """
    analyst.new_game()
    found: list[Evaluation | None] = []
    # From the end to the start: what was found of the moves that came matters to the moves before them.
    for board in reversed(boards):
        found.append(_evaluate(board, analyst, limit, multipv))
        on_position()
    return found[::-1]


def _evaluate(board: chess.Board, analyst: Analyst, limit: chess.engine.Limit, multipv: int) -> Evaluation | None:
    if not board.is_valid():
        return None
    if not any(board.legal_moves):
        return Evaluation(PovScore(Mate(0) if board.is_check() else Cp(0), board.turn), 0, ())
    analysis = analyst.analyse(board, limit, multipv=multipv)
    variations = [Variation(line.score, _legal(board, line.pv)) for line in analysis.lines]
    return Evaluation(analysis.score, analysis.best.depth, tuple(each for each in variations if each.moves))


def _legal(board: chess.Board, moves: Sequence[chess.Move]) -> tuple[chess.Move, ...]:
    """Cut a line to a readable length, and where it cannot go on: the end of one can come from another position."""
    end = board.copy(stack=False)
    legal = []
    for move in moves[:_LINE_PLIES]:
        if not end.is_legal(move):
            break
        legal.append(move)
        end.push(move)
    return tuple(legal)


# --- as JSON holds it ----------------------------------------------------------------------------------------------


def to_json(evaluations: Sequence[Evaluation | None]) -> list[Any]:
    """Turn evaluations into what JSON can hold: for each score, depth and lines, from the view of the side to move."""
    return [
        each
        and [
            _score_text(each.score),
            each.depth,
            [
                [_score_text(variation.score), " ".join(move.uci() for move in variation.moves)]
                for variation in each.variations
            ],
        ]
        for each in evaluations
    ]


def from_json(values: Sequence[Any], turn: chess.Color) -> list[Evaluation | None]:
    """Turn them back.

    Parameters
    ----------
    values : list
        What `to_json` gave.
    turn : chess.Color
        The side to move in the first position.

    Raises
    ------
    ValueError, TypeError
        If it did not give that.
    """
    evaluations: list[Evaluation | None] = []
    for each in values:
        if each is None:
            evaluations.append(None)
        else:
            score, depth, lines = each
            variations = tuple(
                Variation(_score(text, turn), tuple(map(chess.Move.from_uci, moves.split()))) for text, moves in lines
            )
            evaluations.append(Evaluation(_score(score, turn), depth, variations))
        turn = not turn
    return evaluations


def _score_text(score: PovScore) -> int | str:
    mate = score.relative.mate()
    return f"#{mate}" if mate is not None else score.relative.score(mate_score=0)


def _score(value: int | str, turn: chess.Color) -> PovScore:
    return PovScore(Mate(int(value[1:])) if isinstance(value, str) else Cp(value), turn)
