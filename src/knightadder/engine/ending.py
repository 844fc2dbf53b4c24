"""How a game ends on the board."""

from enum import Enum


class Ending(Enum):
    """Why the game is over; the value is the name shown to users."""

    CHECKMATE = "checkmate"
    STALEMATE = "stalemate"
    FIFTY_MOVES = "the fifty-move rule"
    REPETITION = "threefold repetition"
    DEAD_POSITION = "insufficient material"
