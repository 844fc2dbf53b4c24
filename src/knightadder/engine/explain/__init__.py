"""What a static evaluation is made of, for people."""
