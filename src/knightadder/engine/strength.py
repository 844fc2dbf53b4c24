"""Weaker play: the options ``UCI_LimitStrength``, ``UCI_Elo`` and ``Skill Level``.

A weakened engine visits fewer nodes, so it overlooks deep tactics. Then it picks one of the few best moves at random.
The probability of a move is proportional to exp(score / temperature). This is the logit model of fallible choice, which
has also been used to describe the moves of human players (Regan and Haworth, *Intrinsic Chess Ratings*, AAAI 2011).
Other engines use similar methods, see https://www.chessprogramming.org/Playing_Strength. So a move that loses much is
rare at any strength, and a move that is nearly as good as the best is played about as often.

Like `options.py`, which needs the bounds of the Elo, this module imports nothing that takes long.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from knightadder.engine.info import Score

if TYPE_CHECKING:
    from random import Random


# Elo, nodes a move, and temperature in centipawns. Between the rows, the logarithm of the nodes and the temperature are
# linear. To calibrate, edit this table. The scale is that of Stockfish 15.1's UCI_Elo, if Stockfish gets all the depth
# that it uses (one ply more than its level). The rows 1400, 1700, 2000 and 2300 were measured with the network (see the
# strength log), 1200 was measured against 1400, and 2600 is extrapolated. Fewer than some 400 nodes did not make play
# weaker, so below 1400 only the temperature changes.
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
FULL_SKILL = 20  # the Skill Level of full strength; the lower levels divide the Elo range evenly

CANDIDATES = 4  # number of moves to choose from; each takes a share of the nodes


@dataclass(frozen=True, slots=True)
class Handicap:
    """The handicap of a weakened engine: a maximum of nodes for a move, and the temperature of its choice.

    A move that is worse by `temperature` centipawns is chosen less often by the factor e.
    """

    nodes: int
    temperature: float

    def node_limit(self, wanted: int | None) -> int:
        """Return the node limit; `wanted` is the user's own limit."""
        return self.nodes if wanted is None else min(wanted, self.nodes)

    def choose(self, scores: Sequence[Score], random: "Random") -> int:
        """Return the index of a random move, given the scores of the moves for the side that chooses.

        If the search has found mates, the shortest one is played. A move that allows a mate is played only if all moves
        do; then the longest mate is chosen.
        """
        return random.choices(range(len(scores)), self.probabilities(scores))[0]

    def probabilities(self, scores: Sequence[Score]) -> list[float]:
        """Return the probability of each move, in the order of the scores; see `choose`."""
        values = [_value(score) for score in scores]
        best = max(values)
        if abs(best) > _MATE_FROM:
            return [float(index == values.index(best)) for index in range(len(values))]
        weights = [0.0 if value < -_MATE_FROM else math.exp((value - best) / self.temperature) for value in values]
        total = sum(weights)
        return [weight / total for weight in weights]


def handicap_for(elo: float) -> Handicap:
    """Return the handicap for an Elo. Outside the calibrated range, the nearest end counts."""
    elo = min(max(elo, MIN_ELO), MAX_ELO)
    above = max(bisect_left(_CALIBRATION, elo, key=lambda row: row[0]), 1)
    (low, low_nodes, low_temperature), (high, high_nodes, high_temperature) = _CALIBRATION[above - 1 : above + 1]
    share = (elo - low) / (high - low)
    nodes = low_nodes * (high_nodes / low_nodes) ** share
    return Handicap(round(nodes), low_temperature + (high_temperature - low_temperature) * share)


_MATE = 1_000_000
_MATE_FROM = _MATE // 2  # larger than any score in centipawns


def _value(score: Score) -> int:
    """Return mates and centipawns on one scale. Shorter mates are further from zero."""
    if score.mate is None:
        return score.cp or 0
    return _MATE - score.mate if score.mate > 0 else -_MATE - score.mate
