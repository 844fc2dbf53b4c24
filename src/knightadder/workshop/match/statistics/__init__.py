"""Statistics of matches: Elo, the sequential probability ratio test, ratings."""
