"""Time management: how long a move may take.

There are two limits. The soft limit is checked between iterations and scaled by how stable the best move is; the hard
limit stops the search at any point.
"""

from dataclasses import dataclass

from knightadder.engine.limits import Limits

# With a number of moves to go: how many are counted at most, and which share of its part of the clock a move gets.
_HORIZON = 36
_SOFT_SHARE = 0.8
_INCREMENT_SHARE = 0.9

# Without one, the share of the time to come grows with the game: later moves decide more, and fewer are left. The
# formula and its numbers are near those of Stockfish 17. The increments of so many moves count as time to come.
_FIRST_SHARE, _SHARE_GROWTH, _SHARE_POWER = 0.012, 0.0033, 0.46
_INCREMENTS_TO_COME = 49

_HARD_FACTOR = 5.0  # an unfinished iteration may be worth this many times the soft limit

# The most that a single move may use, as parts of the clock.
_SOFT_CLOCK_SHARE = 0.2
_HARD_CLOCK_SHARE = 0.4
_LAST_MOVE_SHARE = 0.8  # the last move before the time control can use most of it

# When the clock is low, a short delay on a busy machine loses the game. So this many overheads are kept in reserve, but
# at least this part of the clock stays usable.
_RESERVE = 5
_LEAST_USABLE = 0.15

# How the soft limit is scaled: the ranges are near those of Stormphrax, set so that the typical factor is 1.
_STABLE, _UNSTABLE = 0.78, 2.36  # for a best move that has long been the same, and for a new one
_STABILITY_DECAY = 0.55  # per iteration
_SHARE_BASE, _SHARE_WEIGHT = 2.0, 1.6  # for the share of nodes spent on the best move
_DROP_WEIGHT = 0.01  # per centipawn by which the score has fallen
_DROP_LEAST, _DROP_MOST = 0.85, 1.5
_DROP_SPAN = 3  # iterations over which the score is compared


@dataclass(frozen=True, slots=True)
class TimeBudget:
    """Milliseconds that a search may use; None for no limit."""

    soft: float | None
    hard: float | None


@dataclass(frozen=True, slots=True)
class Progress:
    """How a search has gone so far.

    Attributes
    ----------
    move : int
        Best move of the last iteration.
    stable_for : int
        Number of iterations directly before it with the same best move.
    scores : tuple of int
        Scores of the last few iterations, the latest last, in centipawns for the side to move.
    best_share : float
        The share of all nodes that was spent on the best move, 0 to 1.
    """

    move: int = 0
    stable_for: int = 0
    scores: tuple[int, ...] = ()
    best_share: float = 1.0

    def after(self, move: int, score: int, best_share: float) -> "Progress":
        """Return the progress after one more iteration."""
        stable_for = self.stable_for + 1 if move == self.move else 0
        return Progress(move, stable_for, (*self.scores, score)[-_DROP_SPAN - 1 :], best_share)


def allot(limits: Limits, side: int, overhead: int, ply: int) -> TimeBudget:
    """Work out the time for one move.

    Parameters
    ----------
    limits : Limits
        What ``go`` asked for.
    side : int
        The side to move, 0 for White.
    overhead : int
        Milliseconds lost on each move between interface and engine.
    ply : int
        Plies played since the game's beginning.

    Returns
    -------
    TimeBudget
        Without limits if the search is infinite, or has neither a clock nor ``movetime``. A search limited by depth,
        nodes or mate obeys ``movetime`` but ignores the clock, because the user has said how far to search.
    """
    if limits.infinite:
        return TimeBudget(None, None)
    hard = None
    if limits.movetime is not None:
        hard = float(max(limits.movetime - overhead, 1))
    own, other = (limits.wtime, limits.btime) if side == 0 else (limits.btime, limits.wtime)
    clock = other if own is None else own  # some interfaces send only one side's clock
    if clock is None or limits.depth or limits.nodes or limits.mate:
        return TimeBudget(None, hard)

    increment = max(limits.winc if side == 0 else limits.binc, 0)
    left = max(clock - overhead, 1)
    moves = None
    if limits.movestogo is not None and limits.movestogo > 0:
        moves = min(limits.movestogo, _HORIZON)
        # Every move to go costs its overhead too.
        left = max(left - overhead * (moves - 1), 1)
    usable = max(left - _RESERVE * overhead, left * _LEAST_USABLE)
    # The overhead reduces the increment; but a user may have set a far larger overhead than the real one.
    gain = max(increment - overhead, increment / 2)
    if moves is None:
        share = _FIRST_SHARE + _SHARE_GROWTH * (max(ply, 0) + 3) ** _SHARE_POWER
        soft = (usable + _INCREMENTS_TO_COME * gain) * share
        last_move_share = 0.0
    else:
        soft = usable / moves * _SOFT_SHARE + gain * _INCREMENT_SHARE
        last_move_share = _LAST_MOVE_SHARE / moves
    most_soft = max(usable * max(_SOFT_CLOCK_SHARE, last_move_share), 1.0)
    most_hard = max(usable * max(_HARD_CLOCK_SHARE, last_move_share), 1.0)
    soft = min(soft, most_soft)
    longest = min(soft * _HARD_FACTOR, most_hard)
    return TimeBudget(soft, longest if hard is None else min(hard, longest))


def scale(progress: Progress) -> float:
    """Return the factor by which to multiply the soft limit.

    The factor is low for a move that has been best for many iterations and takes nearly all nodes, because no other
    move comes near. It is higher for a new best move, for one among several good moves, and for a falling score.
    """
    stability = _STABLE + (_UNSTABLE - _STABLE) * _STABILITY_DECAY**progress.stable_for
    share = _SHARE_BASE - _SHARE_WEIGHT * progress.best_share
    drop = progress.scores[0] - progress.scores[-1] if progress.scores else 0
    trend = min(max(1 + _DROP_WEIGHT * drop, _DROP_LEAST), _DROP_MOST)
    return stability * share * trend
