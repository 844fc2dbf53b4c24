"""Static evaluation: `evaluate` is what search calls; the modules beside it are the evaluations to choose from, and
what is known of endings.
"""

from ..jit import inlined
from . import endings, pesto

MAX_EVAL = 29_000  # keeps clear of mate scores


@inlined
def evaluate(pos):
    """Return the static value of a position in centipawns, from the side to move's view.

    It shrinks as the fifty-move rule comes nearer, so that the better side prefers progress.
    """
    value = pesto.evaluate(pos) * (200 - pos.rule50) // 200
    if pesto.game_phase(pos) <= endings.FEW_PIECES:
        value = endings.judge(pos, value)
    return max(-MAX_EVAL, min(MAX_EVAL, value))
