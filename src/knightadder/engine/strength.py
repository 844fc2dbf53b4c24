"""Weaker play: the options ``UCI_LimitStrength``, ``UCI_Elo`` and ``Skill Level``.

A weakened engine visits fewer nodes, so it does not see far. It overlooks moves, its own as well as the opponent's (see
``core/search/oversight.py``). It misjudges positions, so it seldom plays the same game twice.

This module imports nothing that takes long, because `options.py` needs its range of Elo.
"""

from bisect import bisect_left
from dataclasses import dataclass

# Elo, nodes per move, share of plain quiet moves that are overlooked, and maximum error of evaluations in centipawns.
# Between the rows, the logarithm of the nodes and the other numbers are interpolated linearly. The scale is Stockfish
# 15.1's UCI_Elo, if Stockfish may search as deeply as it needs (one ply more than its level). Levels from 1250 to
# 2500 were measured against Stockfish, other levels against each other (see the strength log). The row for 3000 is
# measured in few games; it assumes that twice the nodes gain 85 Elo.
_CALIBRATION = (
    (500, 39, 0.62, 300.0),
    (750, 70, 0.50, 260.0),
    (1050, 150, 0.36, 210.0),
    (1350, 300, 0.26, 160.0),
    (1700, 580, 0.18, 117.0),
    (2000, 6_000, 0.04, 40.0),
    (2300, 47_000, 0.005, 15.0),
    (2500, 210_000, 0.0, 0.0),
    (2750, 900_000, 0.0, 0.0),
    (3000, 7_000_000, 0.0, 0.0),
)
MIN_ELO, MAX_ELO = _CALIBRATION[0][0], _CALIBRATION[-1][0]
DEFAULT_ELO = 1600
_MATING_NODES = 20_000  # enough to mate with a rook
_NODES_PER_MB = 65_536  # nodes whose entries fill a MiB of hash table
_NODES_PER_MS = 4_000  # more nodes than a thread visits in a millisecond
FULL_SKILL = 20  # the Skill Level of full strength; the lower levels divide the range of Elo evenly


@dataclass(frozen=True, slots=True)
class Handicap:
    """The limits of a weakened engine: `nodes` is the maximum number of nodes per move, `oversight` the share of plain
    quiet moves that it overlooks, and `misjudgement` the maximum error of an evaluation in centipawns.
    """

    nodes: int
    oversight: float = 0.0
    misjudgement: float = 0.0

    @property
    def errs(self) -> bool:
        """Whether the engine makes errors. If not, it is only limited in nodes."""
        return self.oversight > 0 or self.misjudgement > 0

    def hash_mb(self, milliseconds: float | None = None) -> int:
        """Return the size of a hash table that suits the nodes, and the time if it is limited, in MiB.

        Each weakened search has its own empty table: its errors must not stay in the user's table, and the content of
        that table must not make it stronger. The system provides the memory during the search, which takes
        milliseconds for a large table. So the table of a short search is small.
        """
        nodes = self.nodes if milliseconds is None else min(self.nodes, int(milliseconds * _NODES_PER_MS))
        return 1 + nodes // _NODES_PER_MB

    @property
    def mating(self) -> "Handicap":
        """The handicap while mating a bare king with a rook or a queen, which even a weak player can do."""
        return Handicap(max(self.nodes, _MATING_NODES))

    def node_limit(self, wanted: int | None, lines: int = 1) -> int:
        """Return the node limit of a search for that many lines; `wanted` is the user's own limit, if there is one."""
        # Each further line takes about half as many nodes as the first, which must be as good as alone.
        nodes = self.nodes * (max(lines, 1) + 1) // 2
        return nodes if wanted is None else min(wanted, nodes)


def handicap_for(elo: float) -> Handicap:
    """Return the handicap for playing at this Elo. Outside the calibrated range, the nearest end counts."""
    elo = min(max(elo, MIN_ELO), MAX_ELO)
    above = max(bisect_left(_CALIBRATION, elo, key=lambda row: row[0]), 1)
    (low, low_nodes, *low_errors), (high, high_nodes, *high_errors) = _CALIBRATION[above - 1 : above + 1]
    share = (elo - low) / (high - low)
    errors = [least + (most - least) * share for least, most in zip(low_errors, high_errors, strict=True)]
    return Handicap(round(low_nodes * (high_nodes / low_nodes) ** share), *errors)
