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
from .compilation import core
from .evaluation import evaluate
from .evaluation.evaluate import CLASSICAL
from .evaluation.network import NETWORK_WEIGHTS
from .evaluation.terms import TERM_VALUES
from .search import parameters, pruning
from .search.parameters import SEARCH_PARAMETERS

TABLES = record(  # read-only, shared by all threads
    ("knight", np.uint64, 64),
    ("king", np.uint64, 64),
    ("pawn", np.uint64, (2, 64)),  # squares that a pawn attacks, by its colour
    ("rook", MAGIC, 64),
    ("bishop", MAGIC, 64),
    ("rook_rays", np.uint64, 64),  # attacks of a rook on an empty board
    ("bishop_rays", np.uint64, 64),
    ("between", np.uint64, (64, 64)),  # squares between two squares of a line, without these two
    ("line", np.uint64, (64, 64)),  # the whole line through two squares
    ("slider", np.uint64, SLIDER_ENTRIES),
    ("piece_square", PIECE_SQUARE, (16, 64)),
    ("zobrist_castling", np.uint64, 64),  # by the rook's square
    ("zobrist_ep", np.uint64, 65),  # [NO_SQUARE] = 0
    ("zobrist_stm", np.uint64),
    ("cuckoo_keys", np.uint64, CUCKOO_PLACES),  # keys of all reversible moves; see repetition.py
    ("cuckoo_moves", np.uint16, CUCKOO_PLACES),  # the moves, in one direction
    ("logs", np.int32, 64),  # natural logarithms times 1024
    ("parameters", SEARCH_PARAMETERS),
    ("evaluation", np.int64),  # `PESTO`, `CLASSICAL` or `NETWORK`
    ("network_address", np.uint64),  # address of the NETWORK_WEIGHTS; see `new_tables`
    ("terms", np.int64, TERM_VALUES),  # packed values of the classical evaluation
)
Tables = record_type(TABLES)

_CACHE_LINE = 64  # bytes
_NETWORK_AT = -(-TABLES.itemsize // _CACHE_LINE) * _CACHE_LINE


def new_tables(chosen=CLASSICAL):
    """Return a filled TABLES record with the given evaluation: `CLASSICAL`, `PESTO` or `NETWORK`. The weights of the
    network are 0 until `network.fill_tables` copies a network into the record's memory.
    """
    # Tables and network are in one block, so that the network lives as long as the tables and shares their huge page.
    # The system provides the memory for the network only when it is filled.
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
    """Return a TABLES record filled with the parts that are always the same. The compiled image contains these parts,
    because filling them takes a third of the time of `import numpy`.
    """
    tables = new_record(TABLES)
    attacks.fill_tables(tables)
    zobrist.fill_tables(tables)
    repetition.fill_tables(tables)
    return tables
