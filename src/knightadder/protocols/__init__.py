"""Text protocols between the engine and a graphical interface or a script."""
