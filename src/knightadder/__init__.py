"""Knightadder, a chess engine in plain Python compiled by Numba."""

__version__ = "0.1.0"
