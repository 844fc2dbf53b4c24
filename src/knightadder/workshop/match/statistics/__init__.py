"""What the result of a match says: Elo, the sequential probability ratio test, ratings."""
