"""The client of the UCI protocol, for external engines, each in a process of its own."""
