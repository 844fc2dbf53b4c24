"""Compiled loops around the evaluation and the move generator, for ``benchmarks/microbench.py``."""

import numpy as np

from knightadder.native.jit import copy_record
from knightadder.native.signatures import int64

from ..board.movegen import ALL, generate
from ..compilation import core
from ..evaluation.evaluate import evaluate
from ..tables import Tables
from ..worker import Worker

_COPIES = np.int64(64)  # a power of two, small enough for the copies to fit into the first-level cache


@core.exported(int64(Tables, Worker, int64))
def time_evaluate(tables, worker, count):
    """Evaluate ``worker.stack[0]`` `count` times, and return the sum of the values, so that none can be omitted.

    Copies of the position, in ``worker.stack[1:64]``, are evaluated in an order that depends on the values so far. So
    each evaluation starts when the previous one is done, and the compiler cannot move an evaluation out of the loop.
    """
    for i in range(1, _COPIES):
        copy_record(worker.stack[i], worker.stack[0])
    total = np.int64(0)
    place = np.int64(0)
    for _ in range(count):
        total += evaluate(tables, worker, worker.stack[place], np.int64(0))
        place = (place + (total | 1)) & (_COPIES - 1)
    return total


@core.exported(int64(Tables, Worker, int64))
def time_generate(tables, worker, count):
    """Generate all legal moves of ``worker.stack[0]`` `count` times, and return the number of moves written. Each time,
    the moves are written into the next of 64 frames, so the compiler cannot omit a repetition.
    """
    total = np.int64(0)
    for i in range(count):
        frame = worker.frames[i & (_COPIES - 1)]
        total += generate(tables, worker.stack[0], frame, np.int64(0), ALL)
    return total
