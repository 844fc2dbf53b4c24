"""A table of the moves of an annotated game: a row for each move."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from itertools import pairwise

import chess
import chess.pgn

from knightadder.library.frames import Cell, Tabular
from knightadder.library.scores import score_text
from knightadder.opening_names import Opening, opening_at
from knightadder.review.accuracy import move_accuracy, win_percent
from knightadder.review.clocks import move_times
from knightadder.review.game_evaluation import SearchedPosition
from knightadder.review.phase import phases
from knightadder.review.review import Review


@dataclass(frozen=True, slots=True)
class AnnotatedMove(Tabular):
    """A move of an annotated game. Unknown values are ``None``.

    Attributes
    ----------
    ply : int
        The number of the ply in the game, from 1.
    number : int
        The move number.
    colour : str
        ``white`` or ``black``: the side that moves.
    san, uci : str
        The move in standard algebraic notation, and in UCI notation.
    fen : str
        The position before the move.
    eval_before, eval_after : str
        The engine's score of the position before and after the move, as text from White's view: pawns, or ``#3``.
    cp_before, cp_after, mate_before, mate_after : int
        The same scores in centipawns, or in moves to mate.
    wins_before, draws_before, losses_before, wins_after, draws_after, losses_after : int
        Expected results of 1000 games, from White's view.
    win_before, win_after : float
        The mover's win percentage before and after the move.
    points_lost : float
        Expected points that the move lost, from 0 to 1.
    mark : str
        ``!!``, ``!``, ``?!``, ``?`` or ``??``; ``None`` for a move without a mark.
    fault, explanation : str
        What a bad move did wrong: its kind, such as ``hangs`` or ``fork``, and a sentence.
    accuracy : float
        The move's accuracy, from 0 to 100.
    best, best_line : str
        The engine's best move in the position before the move, and the line that begins with it, in algebraic notation.
    clock, time_spent : float
        The mover's clock after the move, and the time spent on the move, in seconds.
    phase : str
        ``opening``, ``middlegame`` or ``endgame``: the phase of the position before the move.
    eco, opening : str
        The opening of the game up to and including this move.
    """

    ply: int
    number: int
    colour: str
    san: str
    uci: str
    fen: str
    eval_before: str | None
    cp_before: int | None
    mate_before: int | None
    wins_before: int | None
    draws_before: int | None
    losses_before: int | None
    eval_after: str | None
    cp_after: int | None
    mate_after: int | None
    wins_after: int | None
    draws_after: int | None
    losses_after: int | None
    win_before: float | None
    win_after: float | None
    points_lost: float | None
    mark: str | None
    fault: str | None
    explanation: str | None
    accuracy: float | None
    best: str | None
    best_line: str | None
    clock: float | None
    time_spent: float | None
    phase: str
    eco: str | None
    opening: str | None

    def to_dict(self) -> dict[str, Cell]:
        """Return the attributes by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def moves_table(game: chess.pgn.Game, review: Review) -> tuple[AnnotatedMove, ...]:
    """Return the rows of the main line of a game, given the game's review."""
    board = game.board()
    moves = [*game.mainline_moves()]
    rows = []
    opening: Opening | None = opening_at(board)
    evaluated = pairwise(review.evaluations)
    phase_of_each = phases(_positions(board, moves))
    judged = zip(review.judgements, review.faults, strict=True)
    for ply, (move, (before, after), (judgement, fault), time, phase) in enumerate(
        zip(moves, evaluated, judged, move_times(game), phase_of_each, strict=True), 1
    ):
        end = board.copy(stack=False)
        end.push(move)
        opening = opening_at(end) or opening
        win_before, win_after = (_win(each, board.turn, review) if move else None for each in (before, after))
        lost = accuracy = None
        if win_before is not None and win_after is not None:
            lost, accuracy = max(0.0, win_before - win_after) / 100, move_accuracy(win_before, win_after)
        line = before.variations[0].moves if before and before.variations else ()
        rows.append(
            AnnotatedMove(
                ply,
                board.fullmove_number,
                chess.COLOR_NAMES[board.turn],
                board.san(move),
                board.uci(move),
                board.fen(),
                *_evaluation(before),
                *_evaluation(after),
                win_before=_rounded(win_before, 2),
                win_after=_rounded(win_after, 2),
                points_lost=_rounded(lost, 4),
                mark=judgement.mark if judgement else None,
                fault=fault.kind if fault else None,
                explanation=fault.text if fault else None,
                accuracy=_rounded(accuracy, 2),
                best=board.san(line[0]) if line else None,
                best_line=board.variation_san(line) if line else None,
                clock=time.after,
                time_spent=time.spent,
                phase=phase,
                eco=opening.eco if opening else None,
                opening=opening.name if opening else None,
            )
        )
    return tuple(rows)


def _positions(board: chess.Board, moves: Iterable[chess.Move]) -> Iterator[chess.Board]:
    """Yield the position before each move: always the same board, on which the moves are made one by one."""
    for move in moves:
        yield board
        board.push(move)


def _win(position: SearchedPosition | None, side: chess.Color, review: Review) -> float | None:
    return None if position is None else win_percent(review.scale(position.score.pov(side)))


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)


def _evaluation(
    position: SearchedPosition | None,
) -> tuple[str | None, int | None, int | None, int | None, int | None, int | None]:
    """Return a score as text, centipawns, moves to mate, and expected wins, draws and losses."""
    if position is None:
        return None, None, None, None, None, None
    white = position.score.white()
    wins, draws, losses = position.wdl.white() if position.wdl else (None, None, None)
    return score_text(position.score), white.score(), white.mate(), wins, draws, losses
