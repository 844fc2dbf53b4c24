"""Time controls of the Chess Engine Communication Protocol, and the limits of a search under them."""

from dataclasses import replace

from knightadder.engine.limits import Limits
from knightadder.engine.timeman import allot
from knightadder.protocols.xboard_text import (
    parse_clock,
    parse_depth,
    parse_level,
    parse_seconds,
)

_MINUTES = 5  # a game, where nobody has set a time control
# An expected move lets the search go on that was begun before it; but not when the clock turns out to show less than
# this part of what was thought.
_ENOUGH = 0.9


class GameClocks:
    """The time control and both clocks, as the engine has been told of them.

    Attributes
    ----------
    depth : int or None
        Plies that no search may go beyond.
    """

    def __init__(self) -> None:
        self._moves, self._base, self._increment = 0, _MINUTES * 60_000, 0
        self._movetime: int | None = None
        self.depth: int | None = None
        self._own = self._opponent = self._base

    def reset(self) -> None:
        """Begin a new game: both clocks are full, and the depth is free."""
        self._own = self._opponent = self._base
        self.depth = None

    def set_level(self, text: str) -> None:
        """Set a time control by the arguments of ``level``; EngineError if they make no sense."""
        self._moves, self._base, self._increment = parse_level(text)
        self._movetime = None
        self._own = self._opponent = self._base

    def set_move_time(self, text: str) -> None:
        """Set an exact time for each move, in seconds; EngineError if it makes no sense."""
        self._movetime = parse_seconds("st", text)

    def set_depth(self, text: str) -> None:
        """Set a depth for each move, in plies; EngineError if it makes no sense."""
        self.depth = parse_depth(text)

    def set_own(self, text: str) -> None:
        """Set the engine's clock, in centiseconds; EngineError if that is no number."""
        self._own = parse_clock("time", text)

    def set_opponent(self, text: str) -> None:
        """Set the opponent's clock, in centiseconds; EngineError if that is no number."""
        self._opponent = parse_clock("otim", text)

    def spend(self, milliseconds: float, moves_made: int) -> None:
        """Account for a move of the engine.

        An interface that sends ``time`` knows better, but it does so only with the opponent's move, and by then the
        engine has long begun to ponder.

        Parameters
        ----------
        milliseconds : float
            What the move took.
        moves_made : int
            Moves the engine has made in the game, this one included.
        """
        self._own += self._increment - round(milliseconds)
        if self._moves and moves_made % self._moves == 0:
            self._own += self._base

    def limits(self, side: int, moves_made: int, overhead: int, ponder: bool = False) -> Limits:
        """Give the limits of a search for a move.

        Parameters
        ----------
        side : int
            The engine's side, 0 for White.
        moves_made : int
            Moves it has made in the game.
        overhead : int
            Milliseconds lost on each move between interface and engine.
        ponder : bool
            Whether to begin on the opponent's time.
        """
        if self._movetime is not None:
            return Limits(movetime=self._movetime, depth=self.depth, ponder=ponder)
        white, black = (self._own, self._opponent) if side == 0 else (self._opponent, self._own)
        limits = Limits(
            wtime=white,
            btime=black,
            winc=self._increment,
            binc=self._increment,
            movestogo=self._moves - moves_made % self._moves if self._moves else None,
            ponder=ponder,
        )
        if self.depth is None:
            return limits
        # A depth means in UCI that the clock does not matter; here both do.
        budget = allot(limits, side, overhead)
        assert budget.soft is not None
        return Limits(depth=self.depth, movetime=round(budget.soft) + overhead, ponder=ponder)


def still_good(then: Limits, now: Limits, side: int) -> bool:
    """Say whether a search that was begun with some limits may go on where others hold now.

    Parameters
    ----------
    then, now : Limits
        Of searches for a move of the same side.
    side : int
        That side, 0 for White.
    """
    if _other_limits(then) != _other_limits(now):
        return False
    clocks = (then.wtime, now.wtime) if side == 0 else (then.btime, now.btime)
    return all(
        (before is None) == (after is None) and (before is None or after is None or after >= before * _ENOUGH)
        for before, after in (clocks, (then.movetime, now.movetime))
    )


def _other_limits(limits: Limits) -> Limits:
    return replace(limits, wtime=None, btime=None, movetime=None, ponder=False)
