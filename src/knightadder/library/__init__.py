"""The engine for Python programmers, on python-chess's boards; ``import knightadder`` gives the public part."""
