"""Syzygy tablebases for the engine: files found, checked and mapped, and play by them at the root."""
