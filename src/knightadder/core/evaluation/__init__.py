"""Static evaluation: what a position is worth without looking ahead."""
