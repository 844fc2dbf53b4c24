"""The limits of a search: the fields of the UCI command ``go``."""

import operator
from dataclasses import dataclass, replace

# Maximum value of each field. No real limit is larger, and sums of such values fit into the 64 bits of the core.
_LARGEST = 10**15
# Maximum depth of perft in plies. No machine can count deeper, and the core has room for this many plies.
MAX_PERFT_DEPTH = 60
# Default depth of the benchmark, in plies.
BENCH_DEPTH = 13
# Maximum share of its clock that a side may have lost, compared to the clock that pondering expected.
_MAX_CLOCK_LOSS = 0.1
# Minimum value of each field. A clock may be below zero when the flag is about to fall.
LEAST = {
    "wtime": -_LARGEST,
    "btime": -_LARGEST,
    "winc": 0,
    "binc": 0,
    "movestogo": 1,
    "depth": 1,
    "nodes": 1,
    "mate": 1,
    "movetime": 1,
}


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a search, and the root moves to choose from: the fields of UCI's ``go``.

    A search ends at the first limit that it reaches. Numbers outside their range are clamped, because the core does not
    check them. A `TypeError` is raised if a number that must be whole has a different type.

    Clocks, increments and ``movetime`` are in milliseconds, ``mate`` is in moves. A clock may be zero or negative when
    the flag is about to fall. ``movestogo`` is None in sudden death. With ``infinite``, the search goes on until it is
    stopped, even if nothing is left to search. With ``ponder``, no limit ends the search before the ponder hit.
    ``movetime`` and a move's longest time by the clock count from the ponder hit, all other limits from the start.
    ``searchmoves`` are UCI strings; if empty, every legal move is searched.
    """

    wtime: int | None = None
    btime: int | None = None
    winc: int = 0
    binc: int = 0
    movestogo: int | None = None
    depth: int | None = None
    nodes: int | None = None
    mate: int | None = None
    movetime: int | None = None
    infinite: bool = False
    ponder: bool = False
    searchmoves: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, least in LEAST.items():
            number = getattr(self, name)
            if number is not None:
                object.__setattr__(self, name, min(max(operator.index(number), least), _LARGEST))

    @property
    def unlimited(self) -> bool:
        """Whether only ``stop`` ends the search, because it is ``infinite`` or has no limit."""
        limits = (self.wtime, self.btime, self.depth, self.nodes, self.mate, self.movetime)
        return self.infinite or all(limit is None for limit in limits)

    def clock(self, side: int) -> int | None:
        """Return the clock of a side, 0 for White. If it is unknown, the other side's clock counts, because some
        interfaces send only one.
        """
        own, other = (self.wtime, self.btime) if side == 0 else (self.btime, self.wtime)
        return other if own is None else own

    def may_become(self, now: "Limits", side: int) -> bool:
        """Return whether pondering for a side's move with these limits may go on as the search with the limits `now`.

        The side's clock may have lost a little, or gained time. All other limits must be equal, except the opponent's
        clock.
        """
        before, after = self.clock(side), now.clock(side)
        if (before is None) != (after is None) or (before or 0) - (after or 0) > _MAX_CLOCK_LOSS * abs(before or 0):
            return False
        others, others_now = (replace(each, wtime=None, btime=None, ponder=False) for each in (self, now))
        return others == others_now
