"""Syzygy tablebases for the engine: finding, checking and mapping files, and choosing root moves."""
