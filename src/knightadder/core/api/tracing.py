"""Traces of many packed positions as rows of a sparse matrix, for the tuner of the evaluation."""

import numpy as np

from knightadder.native.jit import inlined
from knightadder.native.records import new_record
from knightadder.native.signatures import float32, int32, int64

from ..board.packed import Packed, unpack
from ..compilation import core
from ..evaluation import classical, endings
from ..evaluation.score import FULL_PHASE, FULL_SCALE, game_phase
from ..evaluation.terms import TERM_VALUES, TRACE, Trace
from ..tables import Tables
from ..worker import WORKER, Worker

MAX_COUNTS = 256  # maximum number of values that count in one position: a few for each of 32 pieces


@inlined
def _known_scale(pos, value):
    """Return the factor, at most 1, by which `endings` scales a value down."""
    if game_phase(pos) > endings.FEW_PIECES:
        return 1.0
    us = np.int64(pos.stm)
    return endings.scale_of(pos, us if value > 0 else us ^ 1) / FULL_SCALE


@core.exported(int64(Tables, Worker, Trace, Packed[::1], int32[::1], float32[::1], int64[::1], float32[:, ::1]))
def trace_records(tables, worker, trace, records, places, counts, ends, weights):
    """Trace packed positions, and write White's counts minus Black's as the rows of a sparse matrix.

    The function returns the number of counts written; -1 if a record is not a legal position.

    Parameters
    ----------
    tables, worker, trace : records
        The tables must be those of the classical evaluation. The worker and the trace are overwritten.
    records : array of PACKED
    places, counts : arrays
        Receive the indexes of the terms' values and their counts, one position after another.
    ends : array of int
        Receives the end of each position's counts.
    weights : array of shape (positions, 2)
        Receives the weights of the middle-game half and of the end-game half in each value.
    """
    end = np.int64(0)
    pos = worker.stack[0]
    for number in range(len(records)):
        if not unpack(tables, records[number], pos):
            return np.int64(-1)
        trace.counts[:, :] = 0
        value = classical.evaluate(tables, worker, pos, trace)
        for place in range(TERM_VALUES):
            difference = np.int64(trace.counts[0, place]) - np.int64(trace.counts[1, place])
            if difference != 0:
                places[end] = place
                counts[end] = difference
                end += 1
        ends[number] = end
        known = _known_scale(pos, value)
        weights[number, 0] = trace.phase / FULL_PHASE * known
        weights[number, 1] = (FULL_PHASE - trace.phase) / FULL_PHASE * trace.scale / FULL_SCALE * known
    return end


class Tracer:
    """Traces packed positions, block by block, with the TABLES record of a classical evaluation."""

    def __init__(self, tables):
        self._tables = tables
        self._worker, self._trace = new_record(WORKER), new_record(TRACE)

    def trace(self, records):
        """Return the traces of packed positions as a sparse matrix and weights.

        The matrix is in compressed sparse row form: column indexes, counts and row ends. It has a row of `TERM_VALUES`
        columns for each position. The weights, of shape (positions, 2), are the shares of the middle game and the end
        game in each value. A record that is not a legal position raises a `ValueError`.
        """
        length = len(records)
        places, counts = np.empty(length * MAX_COUNTS, np.int32), np.empty(length * MAX_COUNTS, np.float32)
        ends, weights = np.zeros(length + 1, np.int64), np.empty((length, 2), np.float32)
        end = trace_records(self._tables, self._worker, self._trace, records, places, counts, ends[1:], weights)
        if end < 0:
            raise ValueError("a packed position is not legal")
        return places[:end].copy(), counts[:end].copy(), ends, weights
