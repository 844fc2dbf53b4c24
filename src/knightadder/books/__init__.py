"""Opening books in Polyglot's format."""
