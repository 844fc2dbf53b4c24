"""Text protocols that a graphical interface or a script speaks with the engine."""
