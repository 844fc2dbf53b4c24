"""The api: the functions of the compiled core that Python calls."""
