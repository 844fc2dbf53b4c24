"""Reviews of games: evaluations of all positions, marks, accuracy, and better lines."""
