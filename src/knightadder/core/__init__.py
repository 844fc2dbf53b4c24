"""The compiled core: everything here is ordinary Python that Numba turns into machine code.

Nothing in this package imports from the layers above it.
"""
