"""A search for an XBoard interface, and its progress."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum

from knightadder.engine.info import CurrentMove, Info, Result
from knightadder.engine.limits import Limits
from knightadder.protocols.castling import write_moves


class Aim(Enum):
    """The purpose of a search."""

    MOVE = "a move to play"
    PONDER = "the reply to an expected move"
    ANALYSIS = "lines to show"


@dataclass(slots=True)
class XBoardSearch:
    """A running search: its aim, its limits, its latest report, and the best move so far in the protocol's notation.

    When the interface plays the expected move, pondering becomes a search for a move. The position in which the search
    began is described by `placement`, the first field of a FEN, and by the number of its legal moves. `started` is the
    time by `time.monotonic` when the search began. After a search was aborted, its reports are not shown, because the
    interface would take them for lines of the next position.
    """

    aim: Aim
    limits: Limits
    expected: str | None
    placement: str
    moves: int
    chess960: bool
    started: float = field(default_factory=time.monotonic)
    latest: Info | CurrentMove | None = None
    best: str | None = None
    aborted: bool = False

    def write(self, moves: Iterable[str]) -> list[str]:
        """Convert moves from the search's first position to the protocol's notation."""
        return write_moves(tuple(moves), self.placement) if self.chess960 else list(moves)

    def status(self) -> str:
        """Report progress: centiseconds, nodes, depth, root moves left, all root moves, and the current root move."""
        latest = self.latest
        depth, nodes = (0, 0) if latest is None else (latest.depth, latest.nodes)
        number, name = 1, self.best or ""
        if isinstance(latest, CurrentMove):
            number, [name] = latest.number, self.write([latest.move])
        elapsed = round((time.monotonic() - self.started) * 100)
        return f"stat01: {elapsed} {nodes} {depth} {max(self.moves - number, 0)} {self.moves} {name}".rstrip()


@dataclass(frozen=True, slots=True)
class SearchDone:
    """An event: the engine's result of a search. If the search was aborted, the result is ignored."""

    search: XBoardSearch
    result: Result
