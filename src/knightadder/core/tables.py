"""The read-only tables that all threads share."""

from knightadder.native.jit import copy_record
from knightadder.native.memory import zeroed_bytes

from .board import attacks, repetition, zobrist
from .evaluation import evaluate
from .layout import CLASSICAL, NETWORK_WEIGHTS, TABLES, Tables, new_record
from .program import core
from .search import parameters, search

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
    search.fill_tables(tables)
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
