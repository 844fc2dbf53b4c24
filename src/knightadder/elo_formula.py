"""Elo's formula: the expected score of a game, by the difference of two ratings."""

import math


def elo_of_score(score: float) -> float:
    """Return the Elo difference for an expected score; infinite if the score is not between 0 and 1."""
    if not 0.0 < score < 1.0:
        return math.copysign(math.inf, score - 0.5)
    return 400.0 * math.log10(score / (1.0 - score))


def score_of_elo(elo: float) -> float:
    """Return the expected score of an Elo difference."""
    return 1.0 / (1.0 + math.pow(10.0, -elo / 400.0))
