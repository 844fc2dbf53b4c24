"""Puzzles from games: positions with one move that wins or saves, their themes and ratings, and their files."""
