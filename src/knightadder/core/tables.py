"""The read-only tables that all threads share."""

from . import attacks, evaluation, parameters, repetition, search, zobrist
from .layout import CLASSICAL, TABLES, new_record


def new_tables(chosen=CLASSICAL):
    """Return a filled TABLES record, with the evaluation chosen, `CLASSICAL` or `PESTO`."""
    tables = new_record(TABLES)
    attacks.fill_tables(tables)
    zobrist.fill_tables(tables)
    evaluation.fill_tables(tables, chosen)
    repetition.fill_tables(tables)
    parameters.fill_tables(tables)
    search.fill_tables(tables)
    return tables
