"""Clearing what searches have learnt.

Between short searches of unrelated positions this takes longer than such a search: the tables by two moves have
6 MB. So they are cleared only where they hold anything. Whoever writes to them notes the row, by the earlier move.
"""

from knightadder.native.jit import inlined, kernel

from .frame import PIECE_TO

_SHIFT = PIECE_TO.bit_length() - 1


@inlined
def note_history_row(worker, begin):
    """Note that the row of the continuation history that begins at an index has values."""
    worker.learnt_rows[begin >> _SHIFT] = 1


@inlined
def note_correction_row(worker, table, row):
    """Note that a row of one of the two tables of corrections by two moves has values."""
    worker.learnt_rows[(1 + table) * PIECE_TO + row] = 1


@inlined
def _clear_rows(table, learnt):
    for row in range(PIECE_TO):
        if learnt[row]:
            table[row * PIECE_TO : (row + 1) * PIECE_TO] = 0
            learnt[row] = 0


@kernel
def forget_searches(worker):
    """Clear what a worker's searches have learnt, except in the hash table."""
    worker.history[:] = 0
    worker.captures[:] = 0
    worker.pawn_correction[:] = 0
    worker.non_pawn_correction[:] = 0
    worker.minor_correction[:] = 0
    _clear_rows(worker.continuation, worker.learnt_rows[:PIECE_TO])
    _clear_rows(worker.continuation_correction[0], worker.learnt_rows[PIECE_TO : 2 * PIECE_TO])
    _clear_rows(worker.continuation_correction[1], worker.learnt_rows[2 * PIECE_TO :])
    worker.tt_generation = 0
