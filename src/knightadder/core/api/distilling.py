"""Positions with the value of a static evaluation, from which a network learns that evaluation."""

import numpy as np

from knightadder.native.jit import copy_record
from knightadder.native.signatures import int64, uint64

from ..board.bitboard import ZERO
from ..board.movegen import ALL, generate
from ..board.packed import DRAW, Packed, pack, unpack
from ..board.position import make
from ..compilation import core
from ..evaluation.evaluate import evaluate
from ..layout import WHITE
from ..split_mix import random_below
from ..tables import Tables
from ..worker import Worker

MAX_TRIES = 64  # maximum number of candidates per wanted position; only a few percent of the candidates are unsuitable


@core.exported(int64(Tables, Worker, Packed[::1], uint64, int64, int64, Packed[::1]))
def distil_positions(tables, worker, source, seed, max_moves, value_below, records):
    """Choose random positions, play a few random moves from each, and evaluate the resulting positions.

    Positions in check are left out, because a static value says little about them. The fifty-move count becomes 0. The
    function returns the number of positions written, which is lower than the length of `records` only if too few
    candidates are suitable.

    Parameters
    ----------
    tables, worker : records
        The worker's first two positions and its first list of moves are overwritten.
    source : array of PACKED
        Positions to choose from.
    seed : int
    max_moves : int
        Maximum number of random moves; the minimum is 0.
    value_below : int
        Only positions with a smaller absolute value, in centipawns, are written.
    records : array of PACKED
        Receives the positions. The score is the value from White's view, and the result is a draw.
    """
    count, tries, draws = np.int64(0), np.int64(0), np.int64(0)
    here, after = worker.stack[0], worker.stack[1]
    while count < len(records) and tries < MAX_TRIES * len(records):
        tries += 1
        drawn = random_below(seed, draws, len(source))
        moves = random_below(seed, draws + 1, max_moves + 1)
        draws += 2
        suitable = unpack(tables, source[drawn], here)
        while suitable and moves > 0:
            legal = generate(tables, here, worker.frames[0], np.int64(0), ALL)
            if legal == 0:
                suitable = False
            else:
                place = random_below(seed, draws, legal)
                draws += 1
                make(tables, here, after, worker.frames[0].moves[place])
                copy_record(here, after)
                moves -= 1
        if suitable and here.checkers == ZERO:
            here.rule50 = 0
            value = evaluate(tables, worker, here, np.int64(0))
            if abs(value) < value_below:
                if here.stm != WHITE:
                    value = -value
                pack(here, records[count], np.int64(here.stm), value, np.int64(DRAW))
                count += 1
    return count
