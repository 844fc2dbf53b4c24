"""The scores and bounds of the core as Python's numbers, and their meaning for users."""

from knightadder.core.search import transposition
from knightadder.engine.info import Score

EXACT, LOWER, UPPER = int(transposition.EXACT), int(transposition.LOWER), int(transposition.UPPER)
INFINITE, MATE, MATE_FOUND = int(transposition.INFINITE), int(transposition.MATE), int(transposition.MATE_FOUND)
TABLEBASE_WIN, DECISIVE = int(transposition.TABLEBASE_WIN), int(transposition.DECISIVE)

_TABLEBASE_CENTIPAWNS = 20_000  # score of a tablebase win, minus a centipawn per ply to it, as in other engines


def to_score(value: int) -> Score:
    """Return the score for a search value: centipawns or moves to mate; a tablebase win is about 200 pawns."""
    if abs(value) >= MATE_FOUND:
        return Score.of_mate(MATE - abs(value), value > 0)
    if abs(value) >= DECISIVE:
        centipawns = _TABLEBASE_CENTIPAWNS - (TABLEBASE_WIN - abs(value))
        return Score(cp=centipawns if value > 0 else -centipawns)
    return Score(cp=value)
