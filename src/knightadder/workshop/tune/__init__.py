"""Fits constants to games: search parameters, the evaluation, the model of wins, draws and losses."""
