"""What developers of the engine use: test suites, matches, tuning. Nothing of it is loaded by the UCI engine."""
