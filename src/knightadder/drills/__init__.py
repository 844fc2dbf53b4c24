"""Drills: the mistakes of a player's games, and opening repertoires, to play on the board with spaced repetition."""
