"""Errors that the engine raises; the text of each is one clear line that can be shown to a user."""


class EngineError(Exception):
    """The engine cannot do what it was asked."""


class PositionError(EngineError, ValueError):
    """A FEN does not describe a legal position, or a move is not legal in its position."""


class OptionError(EngineError, ValueError):
    """An option does not exist, or does not accept the value."""
