"""The filter that says which games of an index count, and the speeds of games."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral

import chess

from knightadder.core.board.pgn_reader import RESULTS
from knightadder.engine.errors import OptionError
from knightadder.library.dates import date_limits

#: Lichess's names of speeds, each with its limit: 40 moves of a player take fewer seconds than this.
SPEEDS = {
    "ultrabullet": 30.0,
    "bullet": 180.0,
    "blitz": 480.0,
    "rapid": 1500.0,
    "classical": 21_600.0,
    "correspondence": math.inf,
}
DECIDED = RESULTS[1:4]
_MOST_RATING = 99_999


@dataclass(frozen=True, slots=True)
class GameFilter:
    """A filter that says which games of an index count. By default, all games count.

    A filter by rating, date or speed leaves out games for which the value is unknown. An invalid value raises an
    `OptionError`.

    Attributes
    ----------
    min_rating, max_rating : int or None
        Bounds of the average of both ratings. If only one rating is known, they apply to that rating.
    since, until : str or None
        The first and the last date: ``2024``, ``2024-03`` or ``2024-03-15``. If the month or day of a game is unknown,
        it counts as 1.
    speeds : tuple of str
        Some of ``ultrabullet``, ``bullet``, ``blitz``, ``rapid``, ``classical`` and ``correspondence``, as Lichess
        classifies time controls; empty for all.
    player : str or None
        A player's name; case does not matter.
    color : chess.Color or None
        The player's colour.
    result : str or None
        ``1-0``, ``1/2-1/2`` or ``0-1``.
    """

    min_rating: int | None = None
    max_rating: int | None = None
    since: str | None = None
    until: str | None = None
    speeds: Sequence[str] = ()
    player: str | None = None
    color: chess.Color | None = None
    result: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.speeds, str) or not isinstance(self.speeds, Iterable):
            raise OptionError(f"speeds must be several speeds, not {self.speeds!r:.60}")
        object.__setattr__(self, "speeds", tuple(self.speeds))
        for rating in (self.min_rating, self.max_rating):
            is_whole = isinstance(rating, Integral) and not isinstance(rating, bool)
            if rating is not None and not (is_whole and 1 <= rating <= _MOST_RATING):
                raise OptionError(f"a rating must be a whole number from 1 to {_MOST_RATING}, not {rating!r:.60}")
        for date in (self.since, self.until):
            if date is not None:
                date_limits(date)
        for speed in self.speeds:
            if speed not in tuple(SPEEDS):  # a list, which has no hash, is also refused by name
                raise OptionError(f"unknown speed {speed!r:.60}: there are {', '.join(SPEEDS)}")
        if self.result is not None and self.result not in DECIDED:
            raise OptionError(f"the result must be 1-0, 1/2-1/2 or 0-1, not {self.result!r:.60}")
        if not isinstance(self.player, str | None):
            raise OptionError(f"player must be a name, not {self.player!r:.60}")
        if not isinstance(self.color, bool | None):
            raise OptionError(f"color must be chess.WHITE or chess.BLACK, not {self.color!r:.60}")
        if self.color is not None and self.player is None:
            raise OptionError("a colour needs the name of a player")
