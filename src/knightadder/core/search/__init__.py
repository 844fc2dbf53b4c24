"""Search: from the move picker to the root, with all that a search thread remembers."""
