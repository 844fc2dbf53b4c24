"""Scores as text, and their limits; a separate module, so that the web board starts without the rest of the library."""

from chess.engine import Cp, Mate, PovScore

# Maximum score of a line, in centipawns or in moves to mate, and its maximum depth in plies.
MOST_SCORE, MOST_DEPTH = 100_000, 1000

# Scores, in centipawns, that stand for tablebase wins: engines report 200 pawns (some 153), minus the plies to the win.
# No evaluation is that large.
TABLEBASE_WINS = range(15_000, 20_001)


def limited(score: PovScore) -> PovScore:
    """Limit a score to `MOST_SCORE` centipawns or moves. Some engines report a mate as a million centipawns."""
    centipawns, mate = score.relative.score(), score.relative.mate()
    if centipawns is not None:
        return PovScore(Cp(min(max(centipawns, -MOST_SCORE), MOST_SCORE)), score.turn)
    if mate:
        return PovScore(Mate(min(max(mate, -MOST_SCORE), MOST_SCORE)), score.turn)
    return score  # checkmate on the board


def score_text(score: PovScore) -> str:
    """Write a score from White's view: ``+0.35`` in pawns, ``#-3`` in moves to mate, ``#`` for checkmate."""
    white = score.white()
    mate = white.mate()
    return f"{(white.score() or 0) / 100:+.2f}" if mate is None else f"#{mate or ''}"
