"""The api of packed positions: pack the position of a game or a FEN, and set up a position from a record."""

import numpy as np

from knightadder.native.records import new_record
from knightadder.native.signatures import int64, void

from ..board.fen import FenError, parse_fen
from ..board.packed import DRAW, PACKED, Packed, pack, unpack
from ..compilation import core
from ..tables import Tables
from ..worker import WORKER, Worker
from .playing import set_up_position


@core.exported(void(Worker, Packed[::1], int64, int64, int64, int64))
def pack_position(worker, records, index, ply, score, result):
    """Pack ``worker.stack[0]`` into ``records[index]``; see `pack`."""
    pack(worker.stack[0], records[index], ply, score, result)


@core.exported(int64(Tables, Worker, Packed[::1], int64))
def unpack_position(tables, worker, records, index):
    """Set up ``worker.stack[0]`` from ``records[index]``, without a history; return 1 if it is legal, else 0."""
    worker.key_count = 0
    return np.int64(unpack(tables, records[index], worker.stack[0]))


def pack_game(worker, ply=0, score=0, result=DRAW):
    """Return the packed position of a game, as an array of one record.

    Parameters
    ----------
    worker : WORKER record
        The game, such as ``Game.record``.
    ply : int
        Plies since the start of the game, such as ``Game.ply``.
    score : int
        Centipawns from White's view.
    result : int
        `LOSS`, `DRAW` or `WIN`, for White.
    """
    records = np.zeros(1, PACKED)
    pack_position(worker, records, 0, ply, score, result)
    return records


def pack_fen(tables, text, score=0, result=DRAW):
    """Return the packed position of a FEN, as an array of one record. An illegal position raises a `FenError`."""
    setup = parse_fen(text)
    worker = new_record(WORKER)
    position = worker.stack[0]
    position.board[:] = setup.board
    position.stm, position.castling, position.ep = setup.stm, setup.castling, setup.ep
    position.rule50 = position.plies_from_null = setup.rule50
    if set_up_position(tables, worker):
        raise FenError("the side that is not to move is in check")
    return pack_game(worker, 2 * (setup.fullmove - 1) + setup.stm, score, result)
