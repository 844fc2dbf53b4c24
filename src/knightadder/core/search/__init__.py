"""Search: the move picker, pruning, the transposition table, the histories, and the main search."""
