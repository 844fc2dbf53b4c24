"""The read-only tables that all threads share."""

from knightadder.native import jit, loading
from knightadder.native.memory import zeroed_bytes

from .board import attacks, repetition, zobrist
from .evaluation import evaluate
from .layout import CLASSICAL, NETWORK_WEIGHTS, TABLES
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
    ready = loading.places.get("tables")
    if ready is None:
        fill_constants(tables)
    else:  # the image has them: filling them takes as long as a third of `import numpy`
        jit.copy_record(tables, jit.record_at(ready, TABLES))
    tables.network_address = block.ctypes.data + _NETWORK_AT
    evaluate.fill_tables(tables, chosen)
    parameters.fill_tables(tables)
    search.fill_tables(tables)
    return tables


def fill_constants(tables):
    """Fill what neither a parameter nor the choice of an evaluation changes; each image has it, see `builder`."""
    attacks.fill_tables(tables)
    zobrist.fill_tables(tables)
    repetition.fill_tables(tables)
