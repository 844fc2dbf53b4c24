"""Data for fitting evaluations, from games of the engine against itself."""
