"""The api: what Python calls in the compiled core."""
