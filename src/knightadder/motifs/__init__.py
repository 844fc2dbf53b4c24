"""Motifs of a line of moves: tactics and named mates, for puzzles and reviews."""
