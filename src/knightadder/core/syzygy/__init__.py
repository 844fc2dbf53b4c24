"""Syzygy endgame tablebases, read by compiled code."""
