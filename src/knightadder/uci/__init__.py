"""Other UCI engines, each a process of its own: the client of the protocol."""
