"""Syzygy tablebases for the engine: files are found, checked and mapped; the root move is chosen by them."""
