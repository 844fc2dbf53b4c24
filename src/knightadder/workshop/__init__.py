"""Tools for developers of the engine: test suites, matches, tuning. The UCI engine does not load them."""
