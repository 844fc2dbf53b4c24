"""Test suites: positions with known best moves."""
