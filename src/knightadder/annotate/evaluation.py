"""Evaluates the positions of a game, with an engine and a limit that the caller chooses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import chess
import chess.engine
from chess.engine import Cp, Mate, PovScore

from knightadder.library.results import Analysis

# Longer lines are of no use to readers.
_LINE_PLIES = 12

# No engine gives larger values, so larger ones in a file are an error.
_MOST_SCORE, _MOST_DEPTH = 100_000, 1000


class Analyst(Protocol):
    """The part of `knightadder.Engine` that is needed."""

    def new_game(self) -> None:
        """Clear what earlier searches have learnt."""

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
        The score of the line.
    moves : tuple of chess.Move
        The moves of the line; at least one.
    """

    score: PovScore
    moves: tuple[chess.Move, ...]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The engine's evaluation of a position.

    Attributes
    ----------
    score : chess.engine.PovScore
        The score of the best line.
    depth : int
        Search depth in plies; 0 if the game is over.
    variations : tuple of Variation
        The best lines, the best first; none if the game is over.
    """

    score: PovScore
    depth: int
    variations: tuple[Variation, ...]


def evaluate(
    board: chess.Board,
    analyst: Analyst,
    limit: chess.engine.Limit,
    multipv: int = 1,
    on_position: Callable[[], None] = lambda: None,
) -> list[Evaluation | None]:
    """Evaluate the positions of a game.

    Parameters
    ----------
    board : chess.Board
        The game: its last position, with all moves.
    analyst : Analyst
        The engine; it is cleared first, so that the result depends only on the arguments.
    limit : chess.engine.Limit
        Limit of the search of each position.
    multipv : int
        Number of best lines.
    on_position : callable
        Called after each position; an exception from it ends the work.

    Returns
    -------
    list of Evaluation or None
        The evaluations of the first position and of those after each move; ``None`` for a position that cannot occur,
        as after a null move by a side in check.

    Raises
    ------
    EngineError
        If a search fails.
    """
    analyst.new_game()
    found: list[Evaluation | None] = []
    # From the end to the start, so that the hash table helps: it knows the positions after each move already.
    for position in _backwards(board):
        found.append(_evaluate(position, analyst, limit, multipv))
        on_position()
    return found[::-1]


def _backwards(board: chess.Board) -> Iterator[chess.Board]:
    """Give the positions of a game from the last to the first: the same board, with moves taken back."""
    board = board.copy()
    yield board
    while board.move_stack:
        board.pop()
        yield board


def _evaluate(board: chess.Board, analyst: Analyst, limit: chess.engine.Limit, multipv: int) -> Evaluation | None:
    if not board.is_valid():
        return None
    if not any(board.legal_moves):
        return Evaluation(PovScore(Mate(0) if board.is_check() else Cp(0), board.turn), 0, ())
    analysis = analyst.analyse(board, limit, multipv=multipv)
    variations = [Variation(line.score, _legal(board, line.pv)) for line in analysis.lines]
    return Evaluation(analysis.score, analysis.best.depth, tuple(each for each in variations if each.moves))


def _legal(board: chess.Board, moves: Sequence[chess.Move]) -> tuple[chess.Move, ...]:
    """Cut a line to a readable length, and before an illegal move: its end can come from another position."""
    end = board.copy(stack=False)
    legal = []
    for move in moves[:_LINE_PLIES]:
        if not end.is_legal(move):
            break
        legal.append(move)
        end.push(move)
    return tuple(legal)


# --- JSON ----------------------------------------------------------------------------------------------------------


def to_json(evaluations: Sequence[Evaluation | None]) -> list[Any]:
    """Convert evaluations to JSON values: score, depth and lines of each, from the view of the side to move."""
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


def from_json(values: Any, board: chess.Board) -> list[Evaluation | None]:
    """Convert JSON values back to evaluations.

    Parameters
    ----------
    values : list
        The result of `to_json`.
    board : chess.Board
        The game: its last position, with all moves.

    Raises
    ------
    ValueError
        If `values` cannot be the result of `to_json` for this game.
    """
    if not isinstance(values, list) or len(values) != len(board.move_stack) + 1:
        raise ValueError("there is not one evaluation for each position")
    try:
        found = [_from_json(value, position) for value, position in zip(values[::-1], _backwards(board), strict=True)]
    except TypeError as error:
        raise ValueError(str(error)) from None
    return found[::-1]


def _from_json(value: Any, board: chess.Board) -> Evaluation | None:
    if value is None:
        return None
    score, depth, lines = value
    if type(depth) is not int or not 0 <= depth <= _MOST_DEPTH:
        raise ValueError(f"{depth!r} is no depth")
    return Evaluation(_score(score, board.turn), depth, tuple(_variation(line, board) for line in lines))


def _variation(line: Any, board: chess.Board) -> Variation:
    score, text = line
    moves = tuple(map(chess.Move.from_uci, text.split())) if isinstance(text, str) else ()
    if not moves or _legal(board, moves) != moves:
        raise ValueError(f"{text!r} is no line from {board.fen()}")
    return Variation(_score(score, board.turn), moves)


def _score_text(score: PovScore) -> int | str:
    mate = score.relative.mate()
    return f"#{mate}" if mate is not None else score.relative.score(mate_score=0)


def _score(value: Any, turn: chess.Color) -> PovScore:
    is_mate = isinstance(value, str)
    number = int(value.removeprefix("#")) if is_mate else value
    if type(number) is not int or abs(number) > _MOST_SCORE:
        raise ValueError(f"{value!r} is no score")
    return PovScore(Mate(number) if is_mate else Cp(number), turn)
