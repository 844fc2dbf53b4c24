"""Errors that the engine raises; the text of each is one clear line that can be shown to a user."""

from knightadder.text import MOST, one_line


class EngineError(Exception):
    """The engine cannot do what it was asked."""

    def __str__(self) -> str:
        """Return the text as one line, whatever a file, a worker or another engine has contributed to it."""
        return one_line(super().__str__(), MOST)


class PositionError(EngineError, ValueError):
    """A FEN does not describe a legal position, or a move is not legal in its position."""


class PositionWarning(UserWarning):
    """A position has castling rights or an en passant square that cannot be; the engine leaves them out."""


class OptionError(EngineError, ValueError):
    """An option does not exist, or does not accept the value."""
