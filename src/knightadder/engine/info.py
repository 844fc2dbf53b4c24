"""What a search reports while it runs and when it ends, and how a game ends."""

from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True, slots=True)
class Score:
    """A score from the side to move's view, in centipawns or as a distance to mate.

    Attributes
    ----------
    cp : int or None
        Centipawns, or ``None`` when the score is a mate.
    mate : int or None
        Moves (not plies) to mate; negative when the side to move is being mated; zero when it is already mated.

    Raises
    ------
    ValueError
        If not exactly one of the two is given.
    """

    cp: int | None = None
    mate: int | None = None

    def __post_init__(self) -> None:
        if (self.cp is None) == (self.mate is None):
            raise ValueError("a score is either in centipawns or a mate")

    @classmethod
    def of_mate(cls, plies: int, winning: bool) -> "Score":
        """Return the score of a mate that is so many plies away, by the side to move or against it."""
        return cls(mate=(plies + 1) // 2 if winning else -(plies // 2))


class Bound(Enum):
    """How a score relates to the true score: it is exact, at least this (lower) or at most this (upper)."""

    EXACT = "exact"
    LOWER = "lower"
    UPPER = "upper"


@dataclass(frozen=True, slots=True)
class Info:
    """One line of analysis.

    Attributes
    ----------
    depth, seldepth : int
        Nominal depth of the iteration and the deepest ply reached, in plies.
    multipv : int
        Rank of the line among those analysed, from 1.
    score, bound : Score, Bound
        The score for the side to move, and whether it is exact.
    wdl : tuple of int or None
        Expected wins, draws and losses of the side to move in 1000 games, if the user wants them.
    nodes, nps : int
        Nodes visited since the search began, and nodes per second.
    hashfull : int
        The part of the transposition table in use, in per mille.
    tbhits : int
        Positions found in endgame tablebases.
    time_ms : int
        Milliseconds since the search began.
    pv : tuple of str
        Principal variation as UCI strings.
    """

    depth: int
    seldepth: int
    multipv: int
    score: Score
    bound: Bound
    wdl: tuple[int, int, int] | None
    nodes: int
    nps: int
    hashfull: int
    tbhits: int
    time_ms: int
    pv: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CurrentMove:
    """The root move being searched; ``number`` is its place in the root move order, from 1."""

    depth: int
    move: str
    number: int
    nodes: int
    nps: int
    hashfull: int
    time_ms: int


@dataclass(frozen=True, slots=True)
class Message:
    """Free text for the user."""

    text: str


@dataclass(frozen=True, slots=True)
class Result:
    """The end of a search.

    Attributes
    ----------
    best_move : str or None
        The move to play as a UCI string; ``None`` when there is none, in checkmate and stalemate.
    ponder : str or None
        The reply to expect, or ``None``.
    info : Info or None
        The last exact line of analysis, or ``None`` if the search ended before there was one.
    """

    best_move: str | None
    ponder: str | None
    info: Info | None


class Ending(Enum):
    """Why the game is over; the value is the name shown to users."""

    CHECKMATE = "checkmate"
    STALEMATE = "stalemate"
    FIFTY_MOVES = "the fifty-move rule"
    REPETITION = "threefold repetition"
    DEAD_POSITION = "insufficient material"
