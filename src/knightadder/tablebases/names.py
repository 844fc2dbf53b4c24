"""The names of Syzygy tables."""

from __future__ import annotations

MOST_MEN = 5  # maximum number of men, including kings, in tables to download; tables with six men take 160 GB


def table_names(men: int) -> list[str]:
    """Return the names, such as ``KRPvKN``, of all tables with `men` men, kings included, in alphabetical order."""
    from chess.syzygy import tablenames

    return sorted(name for name in tablenames(piece_count=men) if len(name) - 1 == men)
