"""Clearing what earlier searches have learnt.

The tables indexed by two moves take 6 MB, so clearing them would take longer than a short search. Only their used rows
are cleared: each write to such a table marks its row, which belongs to the earlier of the two moves.
"""

from knightadder.native.jit import inlined

from .frame import NO_PLY, PIECE_TO

_SHIFT = PIECE_TO.bit_length() - 1


@inlined
def note_history_row(worker, begin):
    """Mark a row of the continuation history as used; `begin` is the index of its first entry."""
    worker.learnt_rows[begin >> _SHIFT] = 1


@inlined
def note_correction_row(worker, table, row):
    """Mark a row of the continuation correction table 0 or 1 as used."""
    worker.learnt_rows[(1 + table) * PIECE_TO + row] = 1


@inlined
def _clear_rows(table, learnt):
    for row in range(PIECE_TO):
        if learnt[row]:
            table[row * PIECE_TO : (row + 1) * PIECE_TO] = 0
            learnt[row] = 0


def forget(worker):
    """Clear everything that the searches of a worker have learnt, except the hash table."""
    worker.history[:] = 0
    worker.captures[:] = 0
    worker.pawn_correction[:] = 0
    worker.non_pawn_correction[:] = 0
    worker.minor_correction[:] = 0
    _clear_rows(worker.continuation, worker.learnt_rows[:PIECE_TO])
    _clear_rows(worker.continuation_correction[0], worker.learnt_rows[PIECE_TO : 2 * PIECE_TO])
    _clear_rows(worker.continuation_correction[1], worker.learnt_rows[2 * PIECE_TO :])
    worker.tt_generation = 0
    # A null move may lead to a ply whose killers no node of the new search has cleared yet.
    for ply in range(NO_PLY):
        worker.frames[ply].killers[:] = 0
