"""Time controls of the Chess Engine Communication Protocol, and the limits of a search under them."""

from knightadder.engine.limits import Limits
from knightadder.protocols.xboard_text import parse_clock, parse_depth, parse_level, parse_seconds

_MINUTES = 5  # minutes per game, if no time control has been set


class GameClocks:
    """The time control and both clocks, as set by the interface, and the depth limit in plies of every search."""

    def __init__(self) -> None:
        self._moves, self._base, self._increment = 0, _MINUTES * 60_000, 0
        self._movetime: int | None = None
        self.depth: int | None = None
        self._own = self._opponent = self._base

    def reset(self) -> None:
        """Begin a new game: both clocks are full, and the depth is unlimited."""
        self._own = self._opponent = self._base
        self.depth = None

    def set_level(self, text: str) -> None:
        """Set a time control from the arguments of ``level``; EngineError if they are invalid."""
        self._moves, self._base, self._increment = parse_level(text)
        self._movetime = None
        self._own = self._opponent = self._base

    def set_move_time(self, text: str) -> None:
        """Set an exact time for each move, in seconds; EngineError if it is invalid."""
        self._movetime = parse_seconds(text)

    def set_depth(self, text: str) -> None:
        """Set a depth for each move, in plies; EngineError if it is invalid."""
        self.depth = parse_depth(text)

    def set_own(self, text: str) -> None:
        """Set the engine's clock, in centiseconds; EngineError if the text is not a number."""
        self._own = parse_clock("time", text)

    def set_opponent(self, text: str) -> None:
        """Set the opponent's clock, in centiseconds; EngineError if the text is not a number."""
        self._opponent = parse_clock("otim", text)

    def spend(self, milliseconds: float, moves_made: int) -> None:
        """Subtract the time in milliseconds of the engine's last move, its `moves_made`-th, from its clock. The
        interface may send a more exact clock with the opponent's move, but the engine is already pondering then.
        """
        self._own += self._increment - round(milliseconds)
        if self._moves and moves_made % self._moves == 0:
            self._own += self._base

    def limits(self, side: int, moves_made: int, ponder: bool = False) -> Limits:
        """Return the limits of a search for the engine's side (0 for White), which has made `moves_made` moves. With
        `ponder`, the search begins on the opponent's time.
        """
        if self._movetime is not None:
            return Limits(movetime=self._movetime, depth=self.depth, ponder=ponder)
        white, black = (self._own, self._opponent) if side == 0 else (self._opponent, self._own)
        return Limits(
            wtime=white,
            btime=black,
            winc=self._increment,
            binc=self._increment,
            movestogo=self._moves - moves_made % self._moves if self._moves else None,
            depth=self.depth,
            ponder=ponder,
        )
