"""The errors that the engine raises. The text of each error is one clear line for the user."""

from knightadder.text import MOST, one_line


class EngineError(Exception):
    """The engine cannot do what it was asked to do."""

    def __str__(self) -> str:
        """Return the text as one line, even if parts of it come from a file, a worker or an external engine."""
        return one_line(super().__str__(), MOST)


class PositionError(EngineError, ValueError):
    """A FEN does not describe a legal position, or a move is not legal in its position."""


class PositionWarning(UserWarning):
    """A position has impossible castling rights or en passant squares, which the engine leaves out."""


class OptionError(EngineError, ValueError):
    """An option does not exist, or does not accept the value."""
