"""Generates training data for evaluations, from games of the engine against itself."""
