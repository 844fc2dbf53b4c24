"""What a search is asked for: the fields of the UCI command ``go``."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """When a search ends, and among which moves it chooses.

    Several limits may stand together; the search ends at the first that it reaches.

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
        Search until told to stop, even when nothing is left to find.
    ponder : bool
        Search on the opponent's time: the other limits count from the ponder hit on.
    searchmoves : tuple of str
        Root moves to choose from, as UCI strings; empty means every legal move.
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

    @property
    def unlimited(self) -> bool:
        """Whether only ``stop`` ends the search: ``infinite``, or a ``go`` that sets no limit at all."""
        limits = (self.wtime, self.btime, self.depth, self.nodes, self.mate, self.movetime)
        return self.infinite or all(limit is None for limit in limits)
