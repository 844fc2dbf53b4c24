"""Time management: how long a move may take.

Two limits: the soft one is looked at between iterations, the hard one stops the search wherever it is.
"""

from dataclasses import dataclass

from knightadder.engine.limits import Limits

# Without a stated number of moves, plan as if this many were still to come; even with one, no more than this.
_HORIZON = 26
_INCREMENT_SHARE = 0.7
# An unfinished iteration may be worth this many times the soft limit, but never most of the clock.
_HARD_FACTOR = 4.0
_CLOCK_SHARE = 0.4
_LAST_MOVE_SHARE = 0.8  # the last move before the time control need leave nothing


@dataclass(frozen=True, slots=True)
class TimeBudget:
    """Milliseconds a search may use; None for no limit."""

    soft: float | None
    hard: float | None


def allot(limits: Limits, side: int, overhead: int) -> TimeBudget:
    """Work out the time for one move.

    Parameters
    ----------
    limits : Limits
        What ``go`` asked for.
    side : int
        The side to move, 0 for White.
    overhead : int
        Milliseconds lost on each move between interface and engine.

    Returns
    -------
    TimeBudget
        Without limits when the search is infinite or has none of clock and ``movetime``. A search limited by depth,
        nodes or mate obeys ``movetime`` too but no clock: the user has said how far to go.
    """
    if limits.infinite:
        return TimeBudget(None, None)
    hard = None
    if limits.movetime is not None:
        hard = float(max(limits.movetime - overhead, 1))
    own, other = (limits.wtime, limits.btime) if side == 0 else (limits.btime, limits.wtime)
    clock = other if own is None else own  # some interfaces send one side's clock only
    if clock is None or limits.depth or limits.nodes or limits.mate:
        return TimeBudget(None, hard)

    increment = max(limits.winc if side == 0 else limits.binc, 0)
    left = max(clock - overhead, 1)
    moves = _HORIZON
    share = _CLOCK_SHARE
    if limits.movestogo is not None and limits.movestogo > 0:
        moves = min(limits.movestogo, _HORIZON)
        # Every move still to come costs its overhead too.
        left = max(left - overhead * (moves - 1), 1)
        share = max(_CLOCK_SHARE, _LAST_MOVE_SHARE / moves)
    soft = left / moves * 0.75 + increment * _INCREMENT_SHARE
    most = max(left * share, 1.0)
    soft = min(soft, most)
    longest = min(soft * _HARD_FACTOR, most)
    return TimeBudget(soft, longest if hard is None else min(hard, longest))
