"""How a game ends on the board."""

from enum import Enum


class Ending(Enum):
    """Why no move follows; the value is what to call it."""

    CHECKMATE = "checkmate"
    STALEMATE = "stalemate"
    FIFTY_MOVES = "the fifty-move rule"
    REPETITION = "threefold repetition"
    DEAD_POSITION = "insufficient material"
