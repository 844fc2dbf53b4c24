"""Compiles Python functions to machine code ahead of time, and calls them from Python."""
