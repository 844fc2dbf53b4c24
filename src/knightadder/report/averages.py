"""Averages with their uncertainty, and performance ratings."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from knightadder.elo_formula import score_of_elo

_SIGMAS = 1.96  # half the width of a 95 % interval, in standard deviations


@dataclass(frozen=True, slots=True)
class Mean:
    """An average over the moves or games of a player."""

    value: float
    margin: float | None  # half the width of the 95 % interval; None for a single game, which cannot show it
    count: int  # number of values
    games: int  # number of games from which the values come


def mean(games: Iterable[Sequence[float]]) -> Mean | None:
    """Return the average of values that are grouped by game; None if there are no values.

    The moves of a game are alike, for example if the whole game was easy, so only games count as independent. The
    average is then a ratio of two sums over games, which determines its uncertainty.
    """
    filled = [game for game in games if game]
    if not filled:
        return None
    count = sum(map(len, filled))
    value = sum(map(sum, filled)) / count
    if len(filled) < 2:
        return Mean(value, None, count, len(filled))
    spread = sum((sum(game) - value * len(game)) ** 2 for game in filled)
    error = math.sqrt(spread * len(filled) / (len(filled) - 1)) / count
    return Mean(value, _SIGMAS * error, count, len(filled))


def share(points: Sequence[float]) -> Mean | None:
    """Return the average of results, 0 to 1 point per game; None without games.

    The interval is computed with two wins and two losses more, as Agresti and Coull propose. So a few results that
    are all the same do not look certain.
    """
    found = mean([point] for point in points)
    if found is None or found.margin is None:
        return found
    more = [*points, 1.0, 1.0, 0.0, 0.0]
    return replace(found, margin=_SIGMAS * statistics.stdev(more) / math.sqrt(len(more)))


def expected(rating: float, opponent: float) -> float:
    """Return the points that Elo's formula expects a player to score in a game."""
    return score_of_elo(rating - opponent)


def performance(results: Sequence[tuple[float, int]]) -> int | None:
    """Return the rating for which Elo's formula expects the points scored; `results` has points and opponent's rating.
    None without games, or if all games were won or all lost: then no rating is high or low enough.
    """
    points = sum(result for result, _ in results)
    if not 0 < points < len(results):
        return None
    low, high = min(rating for _, rating in results) - 4000.0, max(rating for _, rating in results) + 4000.0
    while high - low > 0.01:
        middle = (low + high) / 2
        if sum(expected(middle, rating) for _, rating in results) < points:
            low = middle
        else:
            high = middle
    return round((low + high) / 2)
