"""The read-only tables that all threads share."""

import numpy as np

from knightadder.native.jit import copy_record
from knightadder.native.memory import zeroed_bytes
from knightadder.native.records import new_record, record
from knightadder.native.signatures import record_type

from .board import attacks, repetition, zobrist
from .board.attacks import MAGIC, SLIDER_ENTRIES
from .board.position import PIECE_SQUARE
from .board.repetition import CUCKOO_PLACES
from .evaluation import evaluate
from .evaluation.evaluate import CLASSICAL
from .evaluation.network import NETWORK_WEIGHTS
from .evaluation.terms import TERM_VALUES
from .program import core
from .search import parameters, pruning
from .search.parameters import SEARCH_PARAMETERS

TABLES = record(  # read-only, shared by all threads
    ("knight", np.uint64, 64),
    ("king", np.uint64, 64),
    ("pawn", np.uint64, (2, 64)),  # squares a pawn of that colour attacks
    ("rook", MAGIC, 64),
    ("bishop", MAGIC, 64),
    ("rook_rays", np.uint64, 64),  # attacks on an empty board
    ("bishop_rays", np.uint64, 64),
    ("between", np.uint64, (64, 64)),  # squares strictly between two squares of one line
    ("line", np.uint64, (64, 64)),  # the whole line through two squares
    ("slider", np.uint64, SLIDER_ENTRIES),
    ("piece_square", PIECE_SQUARE, (16, 64)),
    ("zobrist_castling", np.uint64, 64),  # by the rook's square
    ("zobrist_ep", np.uint64, 65),  # [NO_SQUARE] = 0
    ("zobrist_stm", np.uint64),
    ("cuckoo_keys", np.uint64, CUCKOO_PLACES),  # of all reversible moves, see repetition.py
    ("cuckoo_squares", np.uint16, CUCKOO_PLACES),  # from | to << 6
    ("logs", np.int32, 64),  # natural logarithms, in 1024ths
    ("parameters", SEARCH_PARAMETERS),
    ("evaluation", np.int64),  # `PESTO`, `CLASSICAL` or `NETWORK`
    ("network_address", np.uint64),  # of the NETWORK_WEIGHTS; see `new_tables`
    ("terms", np.int64, TERM_VALUES),  # of the classical evaluation, packed
)
Tables = record_type(TABLES)

_CACHE_LINE = 64  # bytes
_NETWORK_AT = -(-TABLES.itemsize // _CACHE_LINE) * _CACHE_LINE


def new_tables(chosen=CLASSICAL):
    """Return a filled TABLES record, with the evaluation chosen: `CLASSICAL`, `PESTO` or `NETWORK`.

    It refers to room for a network, which has no weights yet: then all values are 0. `network.fill_tables` puts a
    network there.
    """
    # Both in one block: the network lives as long as the tables, and shares their huge page. Until it is filled, its
    # room takes no memory.
    block = zeroed_bytes(_NETWORK_AT + NETWORK_WEIGHTS.itemsize)
    tables = block[: TABLES.itemsize].view(TABLES)[0]
    copy_record(tables, constant_tables())
    tables.network_address = block.ctypes.data + _NETWORK_AT
    evaluate.fill_tables(tables, chosen)
    parameters.fill_tables(tables)
    pruning.fill_tables(tables)
    return tables


@core.constant(Tables)
def constant_tables():
    """Return a TABLES record with all that neither a parameter nor the choice of an evaluation changes.

    To fill it takes as long as a third of `import numpy`.
    """
    tables = new_record(TABLES)
    attacks.fill_tables(tables)
    zobrist.fill_tables(tables)
    repetition.fill_tables(tables)
    return tables
