"""The board: bitboards, attacks, positions, moves and their generation, draws and notation."""
