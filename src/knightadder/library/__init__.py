"""The engine for Python programmers, on python-chess's boards; what of it is public, ``import knightadder`` gives."""
