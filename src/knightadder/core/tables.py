"""The read-only tables that all threads share."""

from . import attacks, parameters, repetition, search, zobrist
from .evaluation import pesto
from .layout import TABLES, new_record


def new_tables():
    """Return a filled TABLES record."""
    tables = new_record(TABLES)
    attacks.fill_tables(tables)
    zobrist.fill_tables(tables)
    pesto.fill_tables(tables)
    repetition.fill_tables(tables)
    parameters.fill_tables(tables)
    search.fill_tables(tables)
    return tables
