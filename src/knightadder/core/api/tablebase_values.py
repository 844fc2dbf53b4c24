"""The api of endgame tablebases: the values of the position ``worker.stack[0]`` and of its moves."""

import numpy as np

from knightadder.native.jit import inlined
from knightadder.native.signatures import int64, pair

from ..board.draw import is_fifty_move_draw, is_repetition
from ..board.position import make
from ..compilation import core
from ..syzygy.probe import FOUND, Tablebases, dtz_before_zeroing, dtz_of_move, probe_dtz, probe_wdl
from ..tables import Tables
from ..worker import Worker

_VALUE = pair(int64)


@inlined
def _draws_at_once(tables, worker, move):
    """Make a move from ``worker.stack[0]``, and return whether the game is then drawn by a rule."""
    pos, after = worker.stack[0], worker.stack[1]
    worker.keys[worker.key_count] = pos.key
    make(tables, pos, after, move)
    worker.keys[worker.key_count + 1] = after.key
    return is_fifty_move_draw(tables, after, worker.frames[1]) or is_repetition(worker, after, np.int64(1))


@core.exported(_VALUE(Tables, Tablebases, Worker, int64))
def find_wdl(tables, tablebases, worker, ply):
    """Probe the WDL tables; return the value, and 1 if it is known, else 0 (see `probe_wdl`)."""
    return probe_wdl(tables, tablebases, worker, ply)


@core.exported(_VALUE(Tables, Tablebases, Worker, int64))
def find_dtz(tables, tablebases, worker, ply):
    """Probe the DTZ tables; return the DTZ, and 1 if it is known, else 0 (see `probe_dtz`)."""
    return probe_dtz(tables, tablebases, worker, ply)


@core.exported(_VALUE(Tables, Tablebases, Worker, int64))
def find_wdl_after(tables, tablebases, worker, move):
    """Probe the WDL tables after a legal move from ``worker.stack[0]``, for the side that makes it; see `find_wdl`. A
    move that draws by the fifty-move rule or by repetition has the value 0.
    """
    if _draws_at_once(tables, worker, move):
        return np.int64(0), FOUND
    wdl, known = probe_wdl(tables, tablebases, worker, np.int64(1))
    return -wdl, known


@core.exported(_VALUE(Tables, Tablebases, Worker, int64))
def find_dtz_after(tables, tablebases, worker, move):
    """Probe the DTZ tables after a legal move from ``worker.stack[0]``, for the side that makes it; see `find_dtz`. The
    DTZ counts from before the move, so a mate has 1. A draw, even by the fifty-move rule or by repetition, has 0.
    """
    if _draws_at_once(tables, worker, move):
        return np.int64(0), FOUND
    ply = np.int64(1)
    after = worker.stack[1]
    if after.rule50 == 0:
        wdl, known = probe_wdl(tables, tablebases, worker, ply)
        return dtz_before_zeroing(-wdl), known
    dtz, known = probe_dtz(tables, tablebases, worker, ply)
    return dtz_of_move(tables, after, worker.frames[1], dtz), known
