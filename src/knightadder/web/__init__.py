"""The web board: a page to play against the engine and to analyse on, and the small server that it talks to."""
