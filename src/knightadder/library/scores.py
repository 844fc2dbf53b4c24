"""Scores as text, in a separate module so that the web board can start without the rest of the library."""

from chess.engine import PovScore

# Maximum score of a line, in centipawns or in moves to mate, and its maximum depth in plies.
MOST_SCORE, MOST_DEPTH = 100_000, 1000


def score_text(score: PovScore) -> str:
    """Write a score from White's view: ``+0.35`` in pawns, ``#-3`` in moves to mate, ``#`` for checkmate."""
    white = score.white()
    mate = white.mate()
    return f"{(white.score() or 0) / 100:+.2f}" if mate is None else f"#{mate or ''}"
