"""The read-only tables that all threads share."""

from .board import attacks, repetition, zobrist
from .evaluation import evaluate
from .layout import CLASSICAL, TABLES, new_record
from .native import jit, loading
from .search import parameters, search


def new_tables(chosen=CLASSICAL):
    """Return a filled TABLES record, with the evaluation chosen, `CLASSICAL` or `PESTO`."""
    tables = new_record(TABLES)
    ready = loading.address_of("tables")
    if ready is None:
        fill_constants(tables)
    else:  # the image has them: filling them takes as long as a third of `import numpy`
        jit.copy_record(tables, jit.record_at(ready, TABLES))
    evaluate.fill_tables(tables, chosen)
    parameters.fill_tables(tables)
    search.fill_tables(tables)
    return tables


def fill_constants(tables):
    """Fill what neither a parameter nor the choice of an evaluation changes; each image has it, see `builder`."""
    attacks.fill_tables(tables)
    zobrist.fill_tables(tables)
    repetition.fill_tables(tables)
