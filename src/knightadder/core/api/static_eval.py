"""The api of the evaluation: the static value of a position, and its trace.

Only Python code calls these functions. The search calls the evaluation directly.
"""

import numpy as np

from knightadder.native.records import new_record
from knightadder.native.signatures import int64

from ..compilation import core
from ..evaluation import classical
from ..evaluation.evaluate import evaluate
from ..evaluation.terms import TRACE, Trace
from ..tables import Tables
from ..worker import Worker


@core.exported(int64(Tables, Worker))
def evaluate_position(tables, worker):
    """Return the static value of ``worker.stack[0]`` in centipawns, from the side to move's view."""
    return evaluate(tables, worker, worker.stack[0], np.int64(0))


@core.exported(int64(Tables, Worker, Trace))
def trace_position(tables, worker, trace):
    """Return the classical value of ``worker.stack[0]`` from the side to move's view, and record its trace in a zeroed
    TRACE. The value lacks the adjustments for endings and the fifty-move rule.
    """
    return classical.evaluate(tables, worker, worker.stack[0], trace)


def static_trace(tables, worker):
    """Return a TRACE record of the classical value of ``worker.stack[0]``."""
    trace = new_record(TRACE)
    trace_position(tables, worker, trace)
    return trace
