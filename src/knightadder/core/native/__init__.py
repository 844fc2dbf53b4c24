"""Compilation to machine code: which functions are compiled, how, and how Python calls them."""

from . import jit, loading

jit.load = loading.load  # the first call of an entry point loads the compiled core
