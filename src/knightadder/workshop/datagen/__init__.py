"""Data for fitting evaluations, made by games of the engine against itself."""
