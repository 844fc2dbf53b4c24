"""The client of the UCI protocol for external engines, each of which runs in a separate process."""
