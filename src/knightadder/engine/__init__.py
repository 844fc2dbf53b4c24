"""Plain Python around the compiled core: options, limits, time management, iterative deepening, the game."""
