"""The web board: a page for games against the engine and for analysis, and the small server behind it."""
