"""The reports of a search while it runs, its result, and the endings of a game."""

from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True, slots=True)
class Score:
    """A score from the side to move's view: either centipawns (`cp`), or a distance to mate in moves (`mate`). The
    distance is negative if the side to move is being mated, and 0 if it is already mated.
    """

    cp: int | None = None
    mate: int | None = None

    def __post_init__(self) -> None:
        if (self.cp is None) == (self.mate is None):
            raise ValueError("a score must be either in centipawns or a mate")

    @classmethod
    def of_mate(cls, plies: int, winning: bool) -> "Score":
        """Return the score of a mate in `plies` plies, given by the side to move if `winning`, else by its opponent."""
        return cls(mate=(plies + 1) // 2 if winning else -(plies // 2))

    @property
    def mate_plies(self) -> int:
        """The distance to mate in plies, for either side; 0 without a mate."""
        mate = self.mate or 0
        return 2 * mate - 1 if mate > 0 else -2 * mate


class Bound(Enum):
    """The relation of a score to the true score: exact, at least the score (lower), or at most the score (upper)."""

    EXACT = "exact"
    LOWER = "lower"
    UPPER = "upper"


@dataclass(frozen=True, slots=True)
class Info:
    """A line of analysis.

    - `depth` is the depth of the iteration, and `seldepth` the deepest ply reached.
    - `multipv` is the rank of the line, from 1.
    - `score` is for the side to move, and so is `wdl`: the expected wins, draws and losses in 1000 games.
    - `hashfull` is the per mille of the transposition table in use.
    - `tbhits` is the number of positions found in tablebases.
    - `pv` has the moves of the line as UCI strings.
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
    """The root move being searched. `number` is its place among the root moves, from 1."""

    depth: int
    move: str
    number: int
    nodes: int
    nps: int
    hashfull: int
    time_ms: int


@dataclass(frozen=True, slots=True)
class Message:
    """A text for the user."""

    text: str


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a search: the best move (a UCI string, or None in checkmate and stalemate), and the expected reply,
    if one is known. `info` is the last exact line of analysis, if there was one.
    """

    best_move: str | None
    ponder: str | None
    info: Info | None


class Ending(Enum):
    """The reason why a game is over. The value is the text that users see."""

    CHECKMATE = "checkmate"
    STALEMATE = "stalemate"
    FIFTY_MOVES = "the fifty-move rule"
    REPETITION = "threefold repetition"
    DEAD_POSITION = "insufficient material"
