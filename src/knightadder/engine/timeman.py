"""Time management: how long a move may take.

Two limits: the soft one is looked at between iterations, and stretched or shrunk by how settled the choice of move is;
the hard one stops the search wherever it is.
"""

from dataclasses import dataclass

from knightadder.engine.limits import Limits

_HORIZON = 36  # moves to come, where their number is not known; even where it is, no more than this
_SOFT_SHARE = 0.8  # of what falls to each of them
_INCREMENT_SHARE = 0.9
_HARD_FACTOR = 5.0  # an unfinished iteration may be worth this many times the soft limit

# What no single move may exceed, in parts of the clock.
_SOFT_CLOCK_SHARE = 0.15
_HARD_CLOCK_SHARE = 0.4
_LAST_MOVE_SHARE = 0.8  # the last move before the time control need leave little

# When the clock is low, a hiccup of a busy machine costs the game. So much is kept for one, in overheads; but the rest
# must be worth something.
_RESERVE = 5
_LEAST_USABLE = 0.15

# How the soft limit is scaled: the ranges are near those of Stormphrax, set so that the typical factor is 1.
_STABLE, _UNSTABLE = 0.78, 2.36  # for a best move that has long stood, and for one just found
_STABILITY_DECAY = 0.55  # by iteration
_SHARE_BASE, _SHARE_WEIGHT = 2.0, 1.6  # by the share of nodes that went into the best move
_DROP_WEIGHT = 0.01  # by centipawn that the score has fallen
_DROP_LEAST, _DROP_MOST = 0.85, 1.5
_DROP_SPAN = 3  # iterations over which the score is compared


@dataclass(frozen=True, slots=True)
class TimeBudget:
    """Milliseconds a search may use; None for no limit."""

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
        How many iterations before it had the same best move, without a break.
    scores : tuple of int
        Scores of the last few iterations, the latest last, in centipawns for the side to move.
    best_share : float
        The part of all nodes that went into the best move, 0 to 1.
    """

    move: int = 0
    stable_for: int = 0
    scores: tuple[int, ...] = ()
    best_share: float = 1.0

    def after(self, move: int, score: int, best_share: float) -> "Progress":
        """Return the progress after one more iteration."""
        stable_for = self.stable_for + 1 if move == self.move else 0
        return Progress(move, stable_for, (*self.scores, score)[-_DROP_SPAN - 1 :], best_share)


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
    if limits.movestogo is not None and limits.movestogo > 0:
        moves = min(limits.movestogo, _HORIZON)
        # Every move still to come costs its overhead too.
        left = max(left - overhead * (moves - 1), 1)
    usable = max(left - _RESERVE * overhead, left * _LEAST_USABLE)
    most_soft = max(usable * max(_SOFT_CLOCK_SHARE, _LAST_MOVE_SHARE / moves), 1.0)
    most_hard = max(usable * max(_HARD_CLOCK_SHARE, _LAST_MOVE_SHARE / moves), 1.0)
    # The overhead eats from the increment; but a user may have stated far more of it than there is.
    gain = max(increment - overhead, increment / 2)
    soft = min(usable / moves * _SOFT_SHARE + gain * _INCREMENT_SHARE, most_soft)
    longest = min(soft * _HARD_FACTOR, most_hard)
    return TimeBudget(soft, longest if hard is None else min(hard, longest))


def scale(progress: Progress) -> float:
    """Return by what to multiply the soft limit.

    Little time goes to a move that has stood for many iterations and takes nearly all nodes, because nothing else came
    near; more to one just found, to one among several, and to a position whose score is falling.
    """
    stability = _STABLE + (_UNSTABLE - _STABLE) * _STABILITY_DECAY**progress.stable_for
    share = _SHARE_BASE - _SHARE_WEIGHT * progress.best_share
    drop = progress.scores[0] - progress.scores[-1] if progress.scores else 0
    trend = min(max(1 + _DROP_WEIGHT * drop, _DROP_LEAST), _DROP_MOST)
    return stability * share * trend
