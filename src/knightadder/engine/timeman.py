"""Time management: how long a move may take. The soft limit is checked between iterations, and scaled by the search's
progress: see `scale`. The hard limit stops the search at any point.
"""

from dataclasses import dataclass, replace

from knightadder.engine.limits import Limits

# Constants for a given number of moves to go. _HORIZON is the maximum of that number. The time for a move is
# _SOFT_SHARE of the clock divided by the moves to go, plus _INCREMENT_SHARE of the increment.
_HORIZON = 36
_SOFT_SHARE = 0.8
_INCREMENT_SHARE = 0.9

# Without a number of moves to go, a move's share of the remaining time grows during the game: later moves decide
# more, and fewer are left. The formula and its numbers are close to Stockfish 17's. The remaining time includes the
# increments of the next moves.
_FIRST_SHARE, _SHARE_GROWTH, _SHARE_POWER = 0.012, 0.0033, 0.46
_INCREMENTS_TO_COME = 49

_HARD_FACTOR = 5.0  # the hard limit, as a multiple of the soft limit, so that most iterations can finish

# Maximum shares of the clock for a single move.
_SOFT_CLOCK_SHARE = 0.2
_HARD_CLOCK_SHARE = 0.4
_LAST_MOVE_SHARE = 0.8  # share of the clock for the last move before the time control

# When the clock is low, a short delay on a busy machine loses the game. So _RESERVE times the overhead is kept in
# reserve, but at least a share of _LEAST_USABLE of the clock stays usable.
_RESERVE = 5
_LEAST_USABLE = 0.15

# Scaling of the soft limit. The ranges are close to Stormphrax's, and the typical factor is 1. The factor for the best
# move's stability falls from _UNSTABLE for a new best move to _STABLE; _STABILITY_DECAY is the share of the remaining
# difference that each iteration leaves. The factor for the best move's share of the nodes is _SHARE_BASE minus
# _SHARE_WEIGHT times that share.
_STABLE, _UNSTABLE = 0.78, 2.36
_STABILITY_DECAY = 0.55
_SHARE_BASE, _SHARE_WEIGHT = 2.0, 1.6
_DROP_WEIGHT = 0.01  # increase of the factor for each centipawn by which the score has fallen
_MIN_DROP, _MAX_DROP = 0.85, 1.5
_DROP_SPAN = 3  # number of iterations whose scores are compared

# The search for the side's previous move counts, too, as in Stockfish. If the score has fallen since that search, this
# move gets more time. If the previous move was stable, it was played quickly and left time for this one.
_PREVIOUS_DROP_WEIGHT = 0.006  # increase of the factor for each centipawn below the score of the previous search
_CARRIED_WEIGHT = 0.3
_TYPICAL_STABILITY = 0.97  # mean of the stability's factor at the end of a search


@dataclass(frozen=True, slots=True)
class TimeBudget:
    """The milliseconds that a search may use; None for no limit."""

    soft: float | None
    hard: float | None


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a search after an iteration.

    `move` is the best move, and `stable_for` the number of directly preceding iterations with the same best move.
    `scores` are the scores of the last few iterations, the latest last, in centipawns for the side to move.
    `best_share` is the share of all nodes that the best move took, 0 to 1. `before` is the progress at the end of the
    search for the side's previous move, if there was one.
    """

    move: int = 0
    stable_for: int = 0
    scores: tuple[int, ...] = ()
    best_share: float = 1.0
    before: "Progress | None" = None

    def after(self, move: int, score: int, best_share: float) -> "Progress":
        """Return the progress after one more iteration."""
        stable_for = self.stable_for + 1 if move == self.move else 0
        return Progress(move, stable_for, (*self.scores, score)[-_DROP_SPAN - 1 :], best_share, self.before)

    @property
    def stability(self) -> float:
        """The factor of the soft limit for how long the best move has been the same."""
        return _STABLE + (_UNSTABLE - _STABLE) * _STABILITY_DECAY**self.stable_for

    def of_next_search(self, plies: int) -> "Progress":
        """Return the progress with which the next search begins, `plies` later: 2 for the side's next move, 0 for the
        same move after a wrong guess of the opponent's. Any other number means a different game.
        """
        if plies == 2 and self.scores:
            return Progress(before=replace(self, before=None))
        return Progress(before=self.before) if plies == 0 else Progress()


def allot(limits: Limits, side: int, overhead: int, ply: int) -> TimeBudget:
    """Return the time for a move, `ply` plies after the start of the game; side 0 is White.

    `overhead` is the time in milliseconds that each move loses between interface and engine. There are no time limits
    if the search is infinite, or has neither a clock nor ``movetime``.
    """
    if limits.infinite:
        return TimeBudget(None, None)
    hard = None
    if limits.movetime is not None:
        hard = float(max(limits.movetime - overhead, 1))
    clock = limits.clock(side)
    if clock is None:
        return TimeBudget(None, hard)

    increment = limits.winc if side == 0 else limits.binc
    left = max(clock - overhead, 1)
    moves = None
    if limits.movestogo is not None:
        moves = min(limits.movestogo, _HORIZON)
        # Each of the other moves up to the time control has an overhead, too.
        left = max(left - overhead * (moves - 1), 1)
    usable = max(left - _RESERVE * overhead, left * _LEAST_USABLE)
    # The overhead reduces the increment, but at most by half, because the user may have set it much too high.
    gain = max(increment - overhead, increment / 2)
    if moves is None:
        share = _FIRST_SHARE + _SHARE_GROWTH * (max(ply, 0) + 3) ** _SHARE_POWER
        soft = (usable + _INCREMENTS_TO_COME * gain) * share
        last_move_share = 0.0
    else:
        soft = usable / moves * _SOFT_SHARE + gain * _INCREMENT_SHARE
        last_move_share = _LAST_MOVE_SHARE / moves
    max_soft = max(usable * max(_SOFT_CLOCK_SHARE, last_move_share), 1.0)
    max_hard = max(usable * max(_HARD_CLOCK_SHARE, last_move_share), 1.0)
    soft = min(soft, max_soft)
    longest = min(soft * _HARD_FACTOR, max_hard)
    return TimeBudget(soft, longest if hard is None else min(hard, longest))


def scale(progress: Progress) -> float:
    """Return the factor of the soft limit. It is low if one move has been the best for many iterations and takes nearly
    all nodes, and higher for a new best move, for several good moves, for a falling score, and after a stable move.
    """
    share = _SHARE_BASE - _SHARE_WEIGHT * progress.best_share
    drop = progress.scores[0] - progress.scores[-1] if progress.scores else 0
    trend = 1 + _DROP_WEIGHT * drop
    carried = 1.0
    if progress.before is not None and progress.scores:
        trend += _PREVIOUS_DROP_WEIGHT * (progress.before.scores[-1] - progress.scores[-1])
        carried += _CARRIED_WEIGHT * (_TYPICAL_STABILITY - progress.before.stability)
    return progress.stability * share * min(max(trend, _MIN_DROP), _MAX_DROP) * carried
