"""The static evaluation explained to people."""
