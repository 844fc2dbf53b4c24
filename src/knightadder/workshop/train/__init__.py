"""Training of networks."""
