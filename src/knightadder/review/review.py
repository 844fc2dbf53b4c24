"""The review of a game whose positions have been evaluated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import chess

from knightadder.opening_names import Opening, find_opening
from knightadder.review.accuracy import Scale, SideAccuracy, rescale, side_accuracies
from knightadder.review.coach import Fault, fault_of
from knightadder.review.game_evaluation import SearchedPosition, is_best
from knightadder.review.judgement import Judgement, is_missed_chance, judge, praise


@dataclass(frozen=True, slots=True)
class Review:
    """The review of a game: evaluations, the judgement of each move, the quality of each side's play, and the opening.

    `white` and `black` are None for a side without moves. Both are None if there are null moves or positions without an
    evaluation: such games were not played.
    """

    evaluations: tuple[SearchedPosition | None, ...]  # one for the first position, and one after each move
    judgements: tuple[Judgement | None, ...]
    white_first: bool
    white: SideAccuracy | None
    black: SideAccuracy | None
    opening: Opening | None
    scale: Scale = rescale  # converts the engine's scores to Stockfish's scale
    faults: tuple[Fault | None, ...] = ()  # explanations of the moves that have a judgement

    def plies(self, white: bool) -> range:
        """Return the plies of a side's moves, counted from 0."""
        return range(0 if white == self.white_first else 1, len(self.judgements), 2)

    def count(self, white: bool, judgement: Judgement) -> int:
        """Return the number of moves of a side with this judgement."""
        return sum(self.judgements[ply] is judgement for ply in self.plies(white))

    @property
    def missed_chances(self) -> tuple[bool, ...]:
        """Whether each move is a missed chance."""
        return tuple(map(is_missed_chance, (None, *self.judgements), self.judgements))

    def count_missed(self, white: bool) -> int:
        """Return the number of missed chances of a side."""
        missed = self.missed_chances
        return sum(missed[ply] for ply in self.plies(white))


def review(board: chess.Board, evaluations: Sequence[SearchedPosition | None], scale: Scale = rescale) -> Review:
    """Review a game. `board` is its last position with all moves; `evaluations` has an item for each position.
    `scale` converts the engine's scores to Stockfish's scale. For an external engine, use `unchanged`.
    """
    moves = board.move_stack
    white_first = (board.turn == chess.WHITE) == (len(moves) % 2 == 0)
    judgements = []
    before = board.root()
    for move, searched, reached in zip(moves, evaluations, evaluations[1:], strict=False):
        judgements.append(judge_move(before, move, searched, reached, scale))
        before.push(move)
    scores = [scale(each.score.white()) for each in evaluations if each]
    played = len(scores) == len(evaluations) and all(moves)
    white, black = side_accuracies(scores, white_first) if played else (None, None)
    return Review(
        evaluations=tuple(evaluations),
        judgements=tuple(judgements),
        white_first=white_first,
        white=white,
        black=black,
        opening=find_opening(board),
        scale=scale,
        faults=tuple(_faults(board, evaluations, judgements)),
    )


def judge_move(
    board: chess.Board,
    move: chess.Move,
    before: SearchedPosition | None,
    after: SearchedPosition | None,
    scale: Scale = rescale,
) -> Judgement | None:
    """Return the judgement of a move, given the evaluations before and after it; None if one of them is unknown."""
    if before is None or after is None or not move:
        return None
    score = scale(before.score.pov(board.turn))
    if is_best(move, before):  # never a mistake, even if a deeper search disagrees
        return None if before.rival is None else praise(board, move, score, scale(before.rival.pov(board.turn)))
    return judge(score, scale(after.score.pov(board.turn)))


def _faults(
    board: chess.Board, evaluations: Sequence[SearchedPosition | None], judgements: Sequence[Judgement | None]
) -> Iterator[Fault | None]:
    position = board.root()
    for move, before, after, judgement in zip(board.move_stack, evaluations, evaluations[1:], judgements, strict=False):
        yield fault_of(position, move, before, after) if judgement and judgement.is_bad and before and after else None
        position.push(move)
