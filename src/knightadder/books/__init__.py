"""Opening books in Polyglot's format, and the index of games of the opening explorer."""
