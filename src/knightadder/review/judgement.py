"""Marks for bad moves: ?!, ? and ??, by the loss of winning chances, as on Lichess.

The thresholds come from `Advice.scala` of https://github.com/lichess-org/lila.
"""

from __future__ import annotations

from enum import Enum

import chess.engine
import chess.pgn

from knightadder.review.accuracy import winning_chances


class Judgement(Enum):
    """The judgement of a bad move."""

    INACCURACY = "inaccuracy"
    MISTAKE = "mistake"
    BLUNDER = "blunder"

    @property
    def nag(self) -> int:
        """The mark's numeric annotation glyph (NAG) in PGN."""
        return _NAGS[self]

    @property
    def mark(self) -> str:
        """The mark as text."""
        return _MARKS[self]


_NAGS = {
    Judgement.INACCURACY: chess.pgn.NAG_DUBIOUS_MOVE,
    Judgement.MISTAKE: chess.pgn.NAG_MISTAKE,
    Judgement.BLUNDER: chess.pgn.NAG_BLUNDER,
}
_MARKS = {Judgement.INACCURACY: "?!", Judgement.MISTAKE: "?", Judgement.BLUNDER: "??"}

# Judgements by their minimum loss of winning chances (which range from -1 to 1), the greatest loss first.
_BY_LOSS = ((0.3, Judgement.BLUNDER), (0.2, Judgement.MISTAKE), (0.1, Judgement.INACCURACY))

# Losing a forced mate matters less if the position stays won by more than this many centipawns; allowing a mate matters
# less if the position was already lost by more.
_BY_ADVANTAGE = ((999, Judgement.INACCURACY), (700, Judgement.MISTAKE))


def judge(before: chess.engine.Score, after: chess.engine.Score) -> Judgement | None:
    """Return the judgement of a move other than the best one; None if the move is good enough.

    `before` and `after` are the scores of the positions before and after the move, from the view of its side. A move
    that only makes a mate longer or shorter is good enough.
    """
    if not before.is_mate() and not after.is_mate():
        loss = winning_chances(before) - winning_chances(after)
        return next((judgement for least, judgement in _BY_LOSS if loss >= least), None)
    if _mates(before) and not _mates(after):
        return _by_advantage(0 if after.is_mate() else after.score() or 0)
    if not before.is_mate() and not _mates(after):
        return _by_advantage(-(before.score() or 0))
    return None


def _mates(score: chess.engine.Score) -> bool:
    return score.is_mate() and score > chess.engine.Cp(0)


def _by_advantage(cp: int) -> Judgement:
    return next((judgement for least, judgement in _BY_ADVANTAGE if cp > least), Judgement.BLUNDER)
