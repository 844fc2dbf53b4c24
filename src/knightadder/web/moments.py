"""The moments that decided a game: the user's worst moves. In their positions, the user looks for a better move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import chess
import chess.pgn

if TYPE_CHECKING:
    from knightadder.review.coach import Fault
    from knightadder.review.game_evaluation import SearchedPosition
    from knightadder.review.review import Review

_MOST = 3  # maximum number of moments in a game


@dataclass(frozen=True, slots=True)
class Moment:
    """A bad move of the user. `before` is the evaluation of the position before it."""

    node: chess.pgn.GameNode
    before: SearchedPosition
    move: chess.Move
    mark: str  # such as ??
    fault: Fault  # what was wrong with the move
    percents: tuple[float, float]  # the user's win percentages before and after the move

    @property
    def better(self) -> tuple[chess.Move, ...]:
        """The engine's line, which begins with the best move."""
        return self.before.variations[0].moves

    def is_good(self, after: SearchedPosition) -> bool:
        """Return whether a different move would get no mark; `after` is the evaluation of the position after it."""
        from knightadder.review.accuracy import rescale
        from knightadder.review.judgement import judge

        before, now = (rescale(each.score.pov(self.node.turn())) for each in (self.before, after))
        return judge(before, now) is None


def find_moments(line: Sequence[chess.pgn.GameNode], review: Review, user: chess.Color) -> list[Moment]:
    """Return the user's marked moves that cost the most winning chances, at most three, in the order of the game.
    `line` contains the nodes of the reviewed line.
    """
    from knightadder.review.accuracy import rescale, win_percent

    found = []
    for node, after_node, judgement, fault, before, after in zip(
        line, line[1:], review.judgements, review.faults, review.evaluations, review.evaluations[1:], strict=False
    ):
        move = after_node.move
        if node.turn() != user or not (judgement and fault and before and after and move and before.variations):
            continue
        could, can = (win_percent(rescale(each.score.pov(user))) for each in (before, after))
        found.append(Moment(node, before, move, judgement.mark, fault, (could, can)))
    worst = sorted(found, key=lambda moment: moment.percents[1] - moment.percents[0])[:_MOST]
    return sorted(worst, key=lambda moment: moment.node.ply())
