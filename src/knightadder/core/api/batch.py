"""Many positions in one call: packing FENs, and evaluating packed positions."""

import numpy as np

from knightadder.native.signatures import int16, int64, uint8

from ..board.bitboard import ZERO
from ..board.fen_reader import read_fen
from ..board.packed import DRAW, Packed, pack, unpack
from ..compilation import core
from ..evaluation.evaluate import evaluate
from ..layout import WHITE
from ..tables import Tables
from ..worker import Worker

NO_VALUE = -32_768  # the value written for an illegal position


@core.exported(int64(Tables, Worker, uint8[::1], int64[::1], Packed[::1]))
def pack_fens(tables, worker, text, ends, records):
    """Pack the positions of consecutive FENs, and return the number of illegal positions.

    Parameters
    ----------
    tables, worker : records
        The worker's first position and list of moves are overwritten.
    text, ends : arrays of uint8 and int
        The FENs in ASCII, one after another, and the place where each of them ends.
    records : array of PACKED
        Receives the positions, with score 0 and a draw as the result. The record of an illegal position is all zeros.
    """
    pos = worker.stack[0]
    start, illegal = np.int64(0), np.int64(0)
    for number in range(len(ends)):
        record = records[number]
        end = ends[number]
        move = read_fen(tables, text, start, end, worker.frames[0].moves, pos)
        if move > 0:
            pack(pos, record, 2 * (move - 1) + np.int64(pos.stm), np.int64(0), np.int64(DRAW))
        else:
            record.occupied = ZERO
            record.pieces[:] = 0
            record.stm_ep = record.rule50 = record.fullmove = record.score = record.result = record.spare = 0
            illegal += 1
        start = end
    return illegal


@core.exported(int64(Tables, Worker, Packed[::1], int16[::1]))
def evaluate_records(tables, worker, records, values):
    """Evaluate packed positions into `values` (int16, centipawns from White's view; `NO_VALUE` for an illegal
    position), and return the number of illegal positions. The worker's first position is overwritten.
    """
    pos = worker.stack[0]
    illegal = np.int64(0)
    for number in range(len(records)):
        if unpack(tables, records[number], pos):
            value = evaluate(tables, worker, pos, np.int64(0))
            values[number] = value if pos.stm == WHITE else -value
        else:
            values[number] = NO_VALUE
            illegal += 1
    return illegal
