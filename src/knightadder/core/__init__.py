"""The compiled core: Python that Numba turns into machine code; it imports nothing from the layers above it."""
