"""Weaker play for people: the options ``UCI_LimitStrength``, ``UCI_Elo`` and ``Skill Level``.

A weakened engine visits fewer nodes, so that it overlooks deep tactics. It then picks one of the few best moves at
random: the better the move, the likelier. The probability of a move is proportional to exp(score / temperature). This
is the logit model of fallible choice, which has also been used to describe the moves of human players (Regan and
Haworth, *Intrinsic Chess Ratings*, AAAI 2011); other engines do something similar, see
https://www.chessprogramming.org/Playing_Strength. So a move that loses much is rare at any strength, and one that is
nearly as good as the best is played about as often.

Like `options.py`, which needs the bounds of Elo, this module imports nothing heavy.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from knightadder.engine.info import Score

if TYPE_CHECKING:
    from random import Random


# Elo, nodes a move, temperature in centipawns; in between, the logarithm of the nodes and the temperature are linear.
# To calibrate, edit this table. The scale is that of Stockfish 15.1's UCI_Elo when it is given all the depth that
# it uses (one ply more than its level). 1400, 1700, 2000 and 2300 were measured with the network, see the strength log;
# 1200 was measured against 1400, and 2600 only extrapolates. Fewer than some 400 nodes did not make play weaker, so
# temperature has to.
_CALIBRATION = (
    (1200, 400, 300.0),
    (1400, 400, 150.0),
    (1700, 1_000, 85.0),
    (2000, 15_000, 21.0),
    (2300, 200_000, 6.0),
    (2600, 4_000_000, 4.0),
)
MIN_ELO, MAX_ELO = _CALIBRATION[0][0], _CALIBRATION[-1][0]
DEFAULT_ELO = 1600
FULL_SKILL = 20  # the Skill Level of full strength; the levels below divide the range of Elo evenly

CANDIDATES = 4  # moves to choose from; each takes a share of the nodes


@dataclass(frozen=True, slots=True)
class Handicap:
    """How the engine is weakened.

    Attributes
    ----------
    nodes : int
        The most nodes to visit for a move.
    temperature : float
        A move that is worse by this many centipawns is chosen less often by the factor e.
    """

    nodes: int
    temperature: float

    def node_limit(self, wanted: int | None) -> int:
        """Give the node limit, `wanted` being the user's own."""
        return self.nodes if wanted is None else min(wanted, self.nodes)

    def choose(self, scores: Sequence[Score], random: "Random") -> int:
        """Choose a move.

        Parameters
        ----------
        scores : sequence of Score
            The value of each move for the side that chooses; at least one, in any order.
        random : random.Random
            The source of chance, which a test may seed.

        Returns
        -------
        int
            Index of the move. If the search has found mates, the shortest is played. A move that allows mate is not
            played, unless all do: then the one with the longest mate is.
        """
        return random.choices(range(len(scores)), self.probabilities(scores))[0]

    def probabilities(self, scores: Sequence[Score]) -> list[float]:
        """Give the probability of each move, in the order of the scores; see `choose`."""
        values = [_value(score) for score in scores]
        best = max(values)
        if abs(best) > _MATE_FROM:
            return [float(index == values.index(best)) for index in range(len(values))]
        weights = [0.0 if value < -_MATE_FROM else math.exp((value - best) / self.temperature) for value in values]
        total = sum(weights)
        return [weight / total for weight in weights]


def handicap_for(elo: float) -> Handicap:
    """Give the handicap for playing at this Elo; outside the calibrated range, that of the nearest end."""
    elo = min(max(elo, MIN_ELO), MAX_ELO)
    above = max(bisect_left(_CALIBRATION, elo, key=lambda row: row[0]), 1)
    (low, low_nodes, low_temperature), (high, high_nodes, high_temperature) = _CALIBRATION[above - 1 : above + 1]
    share = (elo - low) / (high - low)
    nodes = low_nodes * (high_nodes / low_nodes) ** share
    return Handicap(round(nodes), low_temperature + (high_temperature - low_temperature) * share)


_MATE = 1_000_000
_MATE_FROM = _MATE // 2  # beyond any score in centipawns


def _value(score: Score) -> int:
    """Put mates and centipawns on one scale; shorter mates are further from zero."""
    if score.mate is None:
        return score.cp or 0
    return _MATE - score.mate if score.mate > 0 else -_MATE - score.mate
