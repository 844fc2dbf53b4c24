"""What there is to say of a game, once its positions are evaluated."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import chess

from knightadder.annotate.accuracy import Play, play
from knightadder.annotate.evaluation import Evaluation
from knightadder.annotate.judgement import Judgement, judge
from knightadder.openings import Opening, find_opening


@dataclass(frozen=True, slots=True)
class Review:
    """A game reviewed.

    Attributes
    ----------
    evaluations : tuple of Evaluation or None
        Of the position that it begins with and of those after each move.
    judgements : tuple of Judgement or None
        Of each move.
    white_first : bool
        Whether White had the first move.
    white, black : Play or None
        How well they played; ``None`` for a side without moves, and if there are null moves or positions without an
        evaluation, because that is no game that has been played.
    opening : Opening or None
        What the opening is called.
    """

    evaluations: tuple[Evaluation | None, ...]
    judgements: tuple[Judgement | None, ...]
    white_first: bool
    white: Play | None
    black: Play | None
    opening: Opening | None

    def count(self, white: bool, judgement: Judgement) -> int:
        """Count the moves of a side that were judged so."""
        return self.judgements[0 if white == self.white_first else 1 :: 2].count(judgement)


def review(board: chess.Board, evaluations: Sequence[Evaluation | None]) -> Review:
    """Review a game.

    Parameters
    ----------
    board : chess.Board
        The end of the game, with all its moves.
    evaluations : sequence of Evaluation or None
        Of the position that it begins with and of those after each move.
    """
    moves = board.move_stack
    white_first = (board.turn == chess.WHITE) == (len(moves) % 2 == 0)
    movers = itertools.cycle((white_first, not white_first))
    judgements = map(_judge, evaluations, evaluations[1:], moves, movers)
    scores = [each.score.white() for each in evaluations if each]
    played = len(scores) == len(evaluations) and all(moves)
    white, black = play(scores, white_first) if played else (None, None)
    return Review(
        evaluations=tuple(evaluations),
        judgements=tuple(judgements),
        white_first=white_first,
        white=white,
        black=black,
        opening=find_opening(board),
    )


def _judge(
    before: Evaluation | None, after: Evaluation | None, move: chess.Move, mover: chess.Color
) -> Judgement | None:
    if before is None or after is None or not move:
        return None
    if before.variations and before.variations[0].moves[0] == move:
        return None  # no search is perfect, and the best move that it knows is no mistake
    return judge(before.score.pov(mover), after.score.pov(mover))
