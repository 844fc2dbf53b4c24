"""A search that an XBoard asked for, directly or not, and how far it has come."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum

from knightadder.engine.info import CurrentMove, Info, Result
from knightadder.engine.limits import Limits
from knightadder.protocols.castling import write_moves


class Aim(Enum):
    """What a search is for."""

    MOVE = "a move to play"
    PONDER = "the reply to an expected move"
    ANALYSIS = "lines to show"


@dataclass(slots=True)
class Search:
    """A search under way.

    Attributes
    ----------
    aim : Aim
        What it is for; an expected move that is played turns pondering into a search for a move.
    limits : Limits
        When it ends.
    expected : str or None
        The move that it takes for played already, in UCI notation.
    placement : str
        Where the pieces stand when it begins: the first field of a FEN.
    moves : int
        How many moves are legal there.
    chess960 : bool
        Whether castling is written as king takes rook within the engine.
    started : float
        When it began, by `time.monotonic`.
    stopping : bool
        Whether it has been told to end.
    latest : Info or CurrentMove or None
        What was reported last.
    best : str or None
        The best move so far, as the protocol writes it.
    """

    aim: Aim
    limits: Limits
    expected: str | None
    placement: str
    moves: int
    chess960: bool
    started: float = field(default_factory=time.monotonic)
    stopping: bool = False
    latest: Info | CurrentMove | None = None
    best: str | None = None

    def write(self, moves: Iterable[str]) -> list[str]:
        """Write moves that begin where the search does, as the protocol does."""
        return write_moves(tuple(moves), self.placement) if self.chess960 else list(moves)

    def status(self) -> str:
        """Write how far it has come: centiseconds, nodes, depth, root moves left and in all, and the one searched."""
        latest = self.latest
        depth, nodes = (0, 0) if latest is None else (latest.depth, latest.nodes)
        number, name = 1, self.best or ""
        if isinstance(latest, CurrentMove):
            number, [name] = latest.number, self.write([latest.move])
        elapsed = round((time.monotonic() - self.started) * 100)
        return f"stat01: {elapsed} {nodes} {depth} {max(self.moves - number, 0)} {self.moves} {name}".rstrip()


@dataclass(frozen=True, slots=True)
class SearchDone:
    """The end of a search, as the engine tells it; of one that was given up meanwhile, nobody wants to know."""

    search: Search
    result: Result
