"""Compilation to machine code: which functions are compiled, how, and how Python calls them."""
