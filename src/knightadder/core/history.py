"""Move-ordering memory: the butterfly history of quiet moves and the killer moves.

History entries move towards ±`LIMIT` by "gravity": a bonus counts for less the nearer the entry already is, so that
none overflows and recent results weigh most.
"""

import numpy as np

from .jit import inlined

LIMIT = 16_384


@inlined
def quiet_history(worker, side, move):
    """Return how well a quiet move of a side has done, between ±`LIMIT`."""
    return np.int64(worker.history[np.uint64(side), np.uint64(move & 4095)])


@inlined
def _update(worker, side, move, bonus):
    old = quiet_history(worker, side, move)
    worker.history[np.uint64(side), np.uint64(move & 4095)] = old + bonus - old * abs(bonus) // LIMIT


@inlined
def reward_quiet(worker, frame, side, move, depth, quiets):
    """Note that a quiet move caused a beta cutoff after the first `quiets` of ``frame.quiets`` had failed to."""
    if frame.killers[0] != move:
        frame.killers[1] = frame.killers[0]
        frame.killers[0] = move
    bonus = min(300 * depth - 250, 2400)
    _update(worker, side, move, bonus)
    for i in range(quiets):
        _update(worker, side, np.int64(frame.quiets[np.uint64(i)]), -bonus)


@inlined
def forget_killers(worker, ply):
    """Clear a ply's killers: they hold for the nodes under one grandparent, whose positions are much alike."""
    frame = worker.frames[np.uint64(ply)]
    frame.killers[0] = 0
    frame.killers[1] = 0
