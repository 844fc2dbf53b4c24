"""Marks of moves: ?!, ? and ?? by the loss of winning chances; ! and !! for best moves that are hard to find.
The thresholds of bad moves are Lichess's, from `Advice.scala` of https://github.com/lichess-org/lila.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum

import chess
import chess.engine
import chess.pgn

from knightadder.motifs.tactics import VALUES
from knightadder.review.accuracy import winning_chances
from knightadder.rules import mates


class Judgement(Enum):
    """The judgement of a remarkable move, good or bad."""

    BRILLIANT = "brilliant"
    GREAT = "great"
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

    @property
    def is_bad(self) -> bool:
        """Whether the move was bad."""
        return self not in (Judgement.BRILLIANT, Judgement.GREAT)


_NAGS = {
    Judgement.BRILLIANT: chess.pgn.NAG_BRILLIANT_MOVE,
    Judgement.GREAT: chess.pgn.NAG_GOOD_MOVE,
    Judgement.INACCURACY: chess.pgn.NAG_DUBIOUS_MOVE,
    Judgement.MISTAKE: chess.pgn.NAG_MISTAKE,
    Judgement.BLUNDER: chess.pgn.NAG_BLUNDER,
}
_MARKS = {
    Judgement.BRILLIANT: "!!",
    Judgement.GREAT: "!",
    Judgement.INACCURACY: "?!",
    Judgement.MISTAKE: "?",
    Judgement.BLUNDER: "??",
}
LARGE = (Judgement.MISTAKE, Judgement.BLUNDER)

# The minimum loss of winning chances (which range from -1 to 1) for each judgement, the greatest loss first.
_BY_LOSS = ((0.3, Judgement.BLUNDER), (0.2, Judgement.MISTAKE), (0.1, Judgement.INACCURACY))

# Losing a forced mate is a lesser fault if the score stays above this many centipawns. Allowing a mate is a lesser
# fault if the side was already behind by more than this.
_BY_ADVANTAGE = ((999, Judgement.INACCURACY), (700, Judgement.MISTAKE))

# A move is not praised if the mover's winning chances after it are below `_LOST`, or after the second-best move above
# `_WON`.
_LOST, _WON = -0.3, 0.8

_SACRIFICE = 200  # a sacrifice gives up at least this much material, in centipawns


def judge(before: chess.engine.Score, after: chess.engine.Score) -> Judgement | None:
    """Return the judgement of a move that is not the best, from the mover's scores before and after it.
    None if the move is good enough, for example if it only changes the length of a mate.
    """
    if not before.is_mate() and not after.is_mate():
        loss = winning_chances(before) - winning_chances(after)
        return next((judgement for least, judgement in _BY_LOSS if loss >= least), None)
    if _mates(before) and not _mates(after):
        return _by_advantage(0 if after.is_mate() else after.score() or 0)
    if not before.is_mate() and not _mates(after):
        return _by_advantage(-(before.score() or 0))
    return None


def judgement_of(nags: Collection[int]) -> Judgement | None:
    """Return the judgement that a move's marks express, if any."""
    return next((judgement for judgement in Judgement if judgement.nag in nags), None)


def is_missed_chance(before: Judgement | None, judgement: Judgement | None) -> bool:
    """Return whether a move misses a chance: a bad move immediately after the opponent's ? or ??."""
    return before in LARGE and judgement is not None and judgement.is_bad


def is_obvious(board: chess.Board, move: chess.Move) -> bool:
    """Return whether a move is too obvious to be praised: the only move, checkmate, a recapture, or a capture that wins
    material.
    """
    if board.legal_moves.count() == 1 or mates(board, move):
        return True
    if not board.is_capture(move):
        return False
    if board.move_stack and board.peek().to_square == move.to_square:
        before = board.copy(stack=1)
        if before.is_capture(before.pop()):
            return True
    return _see(board, move) > 0


def praise(
    board: chess.Board, move: chess.Move, score: chess.engine.Score, rival: chess.engine.Score
) -> Judgement | None:
    """Return ! or !! for the engine's best move in a position, or None.

    The move is great (!) if every other move would be a mistake. It is brilliant (!!) if it is a sacrifice that leaves
    at least an even position, and every other move would be at least an inaccuracy. Obvious moves are not praised, nor
    moves of a side that still loses, or also wins with other moves. `rival` is the score of the second-best move. Both
    scores are from the side to move's view.
    """
    loss = judge(score, rival)
    if loss is None or winning_chances(score) < _LOST or winning_chances(rival) > _WON or is_obvious(board, move):
        return None
    if score >= chess.engine.Cp(0) and _is_sacrifice(board, move):
        return Judgement.BRILLIANT
    return Judgement.GREAT if loss in LARGE else None


def _is_sacrifice(board: chess.Board, move: chess.Move) -> bool:
    """Return whether the opponent can win material by a capture, even considering what the move itself captures."""
    after = board.copy(stack=False)
    taken = _captured(after, move)
    after.push(move)
    lost = 0
    for capture in list(after.generate_legal_captures()):
        end = after.copy(stack=False)
        end.push(capture)
        regained = max((_see(end, each) for each in end.generate_legal_captures()), default=0)
        lost = max(lost, _captured(after, capture) - max(0, regained))
    return lost - taken >= _SACRIFICE


def _see(board: chess.Board, move: chess.Move) -> int:
    from knightadder.library.positions import see  # imported late, because it loads the core

    return see(board, move)


def _captured(board: chess.Board, move: chess.Move) -> int:
    """Return the value of the piece that a move captures, in centipawns as in `see`; 0 if it captures nothing."""
    return 100 * VALUES[board.piece_type_at(move.to_square) or chess.PAWN] if board.is_capture(move) else 0


def _mates(score: chess.engine.Score) -> bool:
    return score.is_mate() and score > chess.engine.Cp(0)


def _by_advantage(cp: int) -> Judgement:
    return next((judgement for least, judgement in _BY_ADVANTAGE if cp > least), Judgement.BLUNDER)
