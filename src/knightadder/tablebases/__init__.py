"""Syzygy tablebases on disk: list, verify and download them."""
