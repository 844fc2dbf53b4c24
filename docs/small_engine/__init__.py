"""A chess engine in plain Python, as the book builds it."""
