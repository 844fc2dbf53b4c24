"""The static evaluation that the search calls: it uses the chosen evaluation and the knowledge of endings."""

from knightadder.native.jit import inlined

from . import classical, endings, network, pesto
from .score import game_phase
from .terms import read_values

PESTO, CLASSICAL, NETWORK = 0, 1, 2  # the evaluations to choose from

MAX_EVAL = 29_000  # centipawns, well below mate scores


@inlined
def evaluate(tables, worker, pos, ply):
    """Return the static value of a position in centipawns, from the side to move's view.

    At ply 0 any position can be evaluated; at other plies, only the position on the stack. The value shrinks as the
    fifty-move count grows, so that the better side prefers moves that make progress.
    """
    if tables.evaluation == NETWORK:
        value = network.evaluate(tables, worker, pos, ply)
    elif tables.evaluation == CLASSICAL:
        value = classical.evaluate(tables, worker, pos, None)
    else:
        value = pesto.evaluate(pos)
    value = value * (200 - min(pos.rule50, 100)) // 200  # a given FEN may have a count above 100
    if game_phase(pos) <= endings.FEW_PIECES:
        value = endings.judge(pos, value)
    return max(-MAX_EVAL, min(MAX_EVAL, value))


def fill_tables(tables, evaluation):
    """Choose an evaluation, `PESTO`, `CLASSICAL` or `NETWORK`, and fill its part of a TABLES record.
    `network.fill_tables` adds the network itself. Positions that were set up with the old tables must be set up again.
    """
    tables.evaluation = evaluation
    if evaluation != PESTO:
        classical.fill_tables(tables, read_values())
    else:
        pesto.fill_tables(tables)
