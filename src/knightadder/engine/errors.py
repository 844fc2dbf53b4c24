"""Errors the engine raises; the text of each is one clear line, fit to be shown to a user."""


class EngineError(Exception):
    """Something the engine was asked cannot be done."""


class PositionError(EngineError, ValueError):
    """A FEN that describes no legal position, or a move that is not legal in its position."""


class OptionError(EngineError, ValueError):
    """An unknown option, or a value that its option does not take."""
