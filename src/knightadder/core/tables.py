"""The read-only tables that all threads share."""

from .board import attacks, repetition, zobrist
from .evaluation import evaluate
from .layout import CLASSICAL, TABLES, new_record
from .search import parameters, search


def new_tables(chosen=CLASSICAL):
    """Return a filled TABLES record, with the evaluation chosen, `CLASSICAL` or `PESTO`."""
    tables = new_record(TABLES)
    attacks.fill_tables(tables)
    zobrist.fill_tables(tables)
    evaluate.fill_tables(tables, chosen)
    repetition.fill_tables(tables)
    parameters.fill_tables(tables)
    search.fill_tables(tables)
    return tables
