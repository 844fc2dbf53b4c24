"""The limits of a search: the fields of the UCI command ``go``."""

import operator
from dataclasses import dataclass

# No real limit is larger, and sums of such numbers stay far inside the core's 64 bits.
LARGEST = 10**15
# Plies of perft. No machine can count so deep, and the core has a place for every ply.
MAX_PERFT_DEPTH = 60
# The least sensible value of each number. Clocks may be below zero when the flag is about to fall.
LEAST = {
    "wtime": -LARGEST,
    "btime": -LARGEST,
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
    """When a search ends, and among which moves it chooses.

    Several limits may be combined; the search ends at the first one that it reaches. A number out of the sensible range
    is moved to the nearest end of the range, because the core does not check it.

    Attributes
    ----------
    wtime, btime : int or None
        Time left on White's and Black's clock in milliseconds; zero or negative when the flag is about to fall.
    winc, binc : int
        Increment per move in milliseconds.
    movestogo : int or None
        Moves until the next time control; ``None`` in sudden death.
    depth : int or None
        Plies of iterative deepening.
    nodes : int or None
        Nodes to visit.
    mate : int or None
        Search for a mate in this many moves.
    movetime : int or None
        Milliseconds to search.
    infinite : bool
        Search until told to stop, even if there is nothing left to search.
    ponder : bool
        Search on the opponent's time: the other limits count from the ponder hit on.
    searchmoves : tuple of str
        Root moves to choose from, as UCI strings; empty means every legal move.

    Raises
    ------
    TypeError
        If a field for a whole number holds something else.
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
                object.__setattr__(self, name, min(max(operator.index(number), least), LARGEST))

    @property
    def unlimited(self) -> bool:
        """Whether only ``stop`` ends the search: ``infinite``, or a ``go`` that sets no limit at all."""
        limits = (self.wtime, self.btime, self.depth, self.nodes, self.mate, self.movetime)
        return self.infinite or all(limit is None for limit in limits)
