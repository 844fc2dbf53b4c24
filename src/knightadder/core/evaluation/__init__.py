"""Static evaluation: `evaluate` is what search calls; the modules beside it are the evaluations to choose from."""

from ..draw import mate_cannot_be_forced
from ..jit import inlined
from . import pesto

MAX_EVAL = 29_000  # keeps clear of mate scores


@inlined
def evaluate(pos):
    """Return the static value of a position in centipawns, from the side to move's view.

    It shrinks as the fifty-move rule comes nearer, so that the better side prefers progress.
    """
    if mate_cannot_be_forced(pos):
        return 0
    return max(-MAX_EVAL, min(MAX_EVAL, pesto.evaluate(pos) * (200 - pos.rule50) // 200))
