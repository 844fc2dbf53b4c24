"""The quality of play: win percentage, accuracy and average centipawn loss, as on Lichess.

The formulas of win percentage and move accuracy are from https://lichess.org/page/accuracy, the formula of game
accuracy from `AccuracyPercent.scala` of https://github.com/lichess-org/lila. So the figures are comparable with
Lichess's.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import chess.engine
import numpy as np

# A function that converts an engine's scores to Stockfish's scale.
Scale: TypeAlias = Callable[[chess.engine.Score], chess.engine.Score]

# Greater scores, and mates, count as this score in centipawns.
CEILING = 1000

# Pairs of scores in centipawns that this engine and Stockfish 15.1 give the same positions. Other scores are
# interpolated. `benchmarks/marks.py` fits the pairs.
_SCALE = ((0, 0), (250, 343), (500, 516), (1000, 650), (2500, CEILING))

# An analysis is not perfect, so a loss counts a little less than its measured value.
_UNCERTAINTY_BONUS = 1.0

# The weight of a move is the standard deviation of the win percentage around it, within these limits.
_LEAST_WEIGHT, _GREATEST_WEIGHT = 0.5, 12.0


@dataclass(frozen=True, slots=True)
class SideAccuracy:
    """The quality of a side's play in a game: its accuracy (0 to 100), and its average loss per move in centipawns."""

    accuracy: float
    centipawn_loss: int


def rescale(score: chess.engine.Score) -> chess.engine.Score:
    """Convert a score of this engine to Stockfish's scale, which Lichess's formulas assume. Mates are unchanged."""
    cp = score.score()
    if cp is None:
        return score
    ours, theirs = zip(*_SCALE, strict=True)
    return chess.engine.Cp(round(math.copysign(np.interp(abs(cp), ours, theirs), cp)))


def unchanged(score: chess.engine.Score) -> chess.engine.Score:
    """Return an external engine's score unchanged, assuming that it is on Stockfish's scale."""
    return score


def scale_of(is_other: bool) -> Scale:
    """Return the conversion of this engine's scores, or of an external engine's scores, to Stockfish's scale."""
    return unchanged if is_other else rescale


def capped(score: chess.engine.Score) -> int:
    """Return a score in centipawns, limited to `CEILING`; a mate counts as the limit."""
    return max(-CEILING, min(CEILING, score.score(mate_score=100 * CEILING)))


def winning_chances(score: chess.engine.Score) -> float:
    """Return the winning chances of a side with this score, from -1 (it loses) to 1 (it wins)."""
    return 2 / (1 + math.exp(-0.00368208 * capped(score))) - 1


def win_percent(score: chess.engine.Score) -> float:
    """Return the chances of a side with this score as a percentage, from 0 to 100."""
    return 50 + 50 * winning_chances(score)


def move_accuracy(before: float, after: float) -> float:
    """Return a move's accuracy, 0 to 100, from the mover's win percentages after the best move and after this move."""
    if after >= before:
        return 100.0
    raw = 103.1668100711649 * math.exp(-0.04354415386753951 * (before - after)) - 3.166924740191411
    return min(100.0, max(0.0, raw + _UNCERTAINTY_BONUS))


def side_accuracies(
    scores: Sequence[chess.engine.Score], white_first: bool = True
) -> tuple[SideAccuracy | None, SideAccuracy | None]:
    """Return the quality of White's and of Black's play; None for a side that has not moved.
    `scores` are the scores of all positions of the game from White's view; `white_first` says who made the first move.
    """
    wins = [win_percent(score) for score in scores]
    cps = [capped(score) for score in scores]
    weights = _weights(wins)
    sides: list[SideAccuracy | None] = []
    for white in (True, False):
        sign = 1 if white else -1
        # Every other move belongs to the side. Move n leads from position n to position n + 1.
        moves = range(0 if white == white_first else 1, len(scores) - 1, 2)
        if not moves:
            sides.append(None)
            continue
        accuracies = [move_accuracy(*((wins[n], wins[n + 1]) if white else (-wins[n], -wins[n + 1]))) for n in moves]
        losses = [max(0, sign * (cps[n] - cps[n + 1])) for n in moves]
        weighted = sum(weights[n] * value for n, value in zip(moves, accuracies, strict=True))
        weighted /= sum(weights[n] for n in moves)
        harmonic = len(accuracies) / sum(1 / max(1.0, value) for value in accuracies)
        # Halves are rounded up, unlike in Python.
        sides.append(SideAccuracy((weighted + harmonic) / 2, math.floor(statistics.mean(losses) + 0.5)))
    white_play, black_play = sides
    return white_play, black_play


def _weights(wins: Sequence[float]) -> list[float]:
    """Return the weight of each move: the spread of the win percentage over a window that ends with the move.
    A window is a tenth of the game, but has two to eight positions. The first moves share the first window.
    """
    size = max(2, min(8, (len(wins) - 1) // 10))
    windows = [wins[max(0, end - size) : max(end, size)] for end in range(2, len(wins) + 1)]
    return [max(_LEAST_WEIGHT, min(_GREATEST_WEIGHT, statistics.pstdev(window))) for window in windows]
