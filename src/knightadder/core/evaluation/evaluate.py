"""The static evaluation that search calls; the modules beside it are the evaluations to choose from, and endings."""

from knightadder.native.jit import inlined

from . import classical, endings, network, pesto
from .score import game_phase
from .terms import read_values

PESTO, CLASSICAL, NETWORK = 0, 1, 2  # the evaluations to choose from

MAX_EVAL = 29_000  # keeps clear of mate scores


@inlined
def evaluate(tables, worker, pos, ply):
    """Return the static value of a position in centipawns, from the side to move's view.

    At ply 0 any position can be evaluated, at others only the one on the stack. The value shrinks as the fifty-move
    rule comes nearer, so that the better side prefers progress.
    """
    if tables.evaluation == NETWORK:
        value = network.evaluate(tables, worker, pos, ply)
    elif tables.evaluation == CLASSICAL:
        value = classical.evaluate(tables, worker, pos, None)
    else:
        value = pesto.evaluate(pos)
    value = value * (200 - min(pos.rule50, 100)) // 200  # positions from outside may have a greater count
    if game_phase(pos) <= endings.FEW_PIECES:
        value = endings.judge(pos, value)
    return max(-MAX_EVAL, min(MAX_EVAL, value))


def fill_tables(tables, evaluation):
    """Choose an evaluation, `PESTO`, `CLASSICAL` or `NETWORK`, and fill its part of a TABLES record.

    The network itself is put there by `network.fill_tables`. Positions that were set up with the old tables must be set
    up again.
    """
    tables.evaluation = evaluation
    if evaluation != PESTO:
        classical.fill_tables(tables, read_values())
    else:
        pesto.fill_tables(tables)
