"""Drills: positions to play on the board with spaced repetition, from a player's mistakes and opening repertoires."""
