"""Decisions to resign, and to offer or accept a draw, by the scores of the engine's moves."""

from collections.abc import Sequence

from knightadder.engine.info import Score
from knightadder.engine.options import Option, Options

_DRAW_FROM_MOVE = 35  # minimum move number for a draw by level scores
_DRAW_MOVES = 8  # number of the engine's moves that must have had a level score
# The engine accepts a draw at any time after two of its moves had a score of -300 centipawns or less.
_LOST, _LOST_MOVES = -300, 2
_PATIENCE = 10  # minimum number of the engine's moves between two offers
_MATE = 100_000  # stands for a mate: larger than any score in centipawns

OPTIONS = (
    Option("Draw Score", "spin", 10, 0, 1000),
    Option("Resign Score", "spin", 900, 0, 10_000),
    Option("Resign Moves", "spin", 4, 0, 100),
)


class Settlement:
    """Decides when to resign, and when to offer or accept a draw.

    The engine offers a draw from move 35 on, after eight moves with a score within ``Draw Score`` centipawns of zero.
    It accepts a draw from move 35 on if its scores were level or worse, and at any move in a lost position. It resigns
    after ``Resign Moves`` moves with a score of at most -``Resign Score`` centipawns. A zero turns off draws or
    resigning.
    """

    def __init__(self) -> None:
        self._options = Options(OPTIONS)
        self._scores: list[int] = []
        self._move_number = 0
        self._offered_at: int | None = None

    def set(self, name: str, text: str | None) -> None:
        """Set an option from text; OptionError if the option or the value is invalid."""
        self._options.set(name, text)

    def reset(self) -> None:
        """Forget the scores, because a new game begins or the game continues from a different position."""
        self._scores.clear()
        self._offered_at = None

    def note(self, score: Score, move_number: int) -> None:
        """Record the score and number of a move that the engine is about to make, from the engine's point of view."""
        if score.mate is None:
            self._scores.append(score.cp or 0)
        else:
            self._scores.append(_MATE if score.mate > 0 else -_MATE)
        self._move_number = move_number

    def resigns(self) -> bool:
        """Return whether to resign instead of moving."""
        limit, moves = int(self._options["Resign Score"]), int(self._options["Resign Moves"])
        return bool(limit and moves) and stayed_within(self._scores, moves, -_MATE, -limit)

    def offers_draw(self) -> bool:
        """Return whether to offer a draw with the move. If so, the draw counts as offered."""
        limit = int(self._options["Draw Score"])
        recently = self._offered_at is not None and len(self._scores) - self._offered_at < _PATIENCE
        level = stayed_within(self._scores, _DRAW_MOVES, -limit, limit)
        if not limit or recently or self._move_number < _DRAW_FROM_MOVE or not level:
            return False
        self._offered_at = len(self._scores)
        return True

    def accepts_draw(self) -> bool:
        """Return whether to accept the draw that the opponent has offered."""
        limit = int(self._options["Draw Score"])
        level = stayed_within(self._scores, _DRAW_MOVES, -_MATE, limit) and self._move_number >= _DRAW_FROM_MOVE
        lost = stayed_within(self._scores, _LOST_MOVES, -_MATE, _LOST)
        return bool(limit) and (level or lost)


def stayed_within(scores: Sequence[int], moves: int, lowest: float, highest: float) -> bool:
    """Return whether the scores of the last `moves` moves all lie within the bounds, in centipawns."""
    last = scores[-moves:]
    return len(last) == moves and all(lowest <= score <= highest for score in last)
