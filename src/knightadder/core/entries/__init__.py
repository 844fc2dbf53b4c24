"""The entry points: what Python calls in the compiled core."""
