"""Compilation to machine code: decorators, memory, and the cache of compiled code."""
