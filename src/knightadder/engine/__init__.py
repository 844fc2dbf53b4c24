"""The engine in plain Python around the compiled core: options, limits, time management, searches, the game."""
