"""Probabilities of win, draw and loss for a score, by the two-parameter logistic model that engines commonly use.

A side with a score of x centipawns wins with the probability 1 / (1 + exp((a - x) / b)). It loses with the probability
that the other side wins with the score -x. The rest is the probability of a draw. So a is the score at which a side
wins half of its games, and b is the spread. Both are polynomials in the material on the board.
https://github.com/official-stockfish/WDL_model describes the method. `knightadder tune wdl` fits the constants to
games.
"""

import math
from collections.abc import Sequence

# Coefficients of the powers of material / FULL_MATERIAL, the highest power first. They were fitted to 230,705
# positions of 2,000 games of networks 13 and 14 at 8 s + 0.08 s, with a clock of 150 nodes a millisecond.
# In games between people, an advantage is worth less: Lichess's formula corresponds to about a = 240 and b = 221.
A = (-503.9, 1211.4, -1012.6, 369.7)
B = (134.3, -226.5, 111.6, 43.0)

FULL_MATERIAL = 78  # material at the start of a game
LEAST_MATERIAL = 17  # minimum material for the fit; positions with less are rare, and mostly decided
_VALUES = 1, 3, 3, 5, 9  # values of pawn, knight, bishop, rook and queen


def material_of_sets(by_type: Sequence[int]) -> int:
    """Return the material of both sides: pawns count 1, minor pieces 3, rooks 5, queens 9. `by_type` has the bitboard
    of all pieces, followed by one for each piece type from pawns on.
    """
    return sum(value * squares.bit_count() for value, squares in zip(_VALUES, by_type[1:], strict=False))


def win_draw_loss(cp: int, material: int = FULL_MATERIAL) -> tuple[int, int, int]:
    """Return the expected wins, draws and losses in 1000 games for a score, by `material` (see `material_of_sets`)."""
    half_won, spread = parameters(material)
    win = round(1000 * win_rate(cp, half_won, spread))
    loss = round(1000 * win_rate(-cp, half_won, spread))
    return win, 1000 - win - loss, loss


def win_rate(cp: float, half_won: float, spread: float) -> float:
    """Return the probability of a win by the logistic curve with the parameters a = `half_won` and b = `spread`."""
    exponent = (half_won - cp) / spread
    return 1 / (1 + math.exp(exponent)) if exponent < 500 else 0.0


def parameters(material: int, a: Sequence[float] = A, b: Sequence[float] = B) -> tuple[float, float]:
    """Return the parameters a and b of the curve, in centipawns, at some material (see `material_of_sets`), from the
    coefficients `a` and `b` of their polynomials.
    """
    share = min(max(material, LEAST_MATERIAL), FULL_MATERIAL) / FULL_MATERIAL
    return _polynomial(a, share), _polynomial(b, share)


def _polynomial(coefficients: Sequence[float], x: float) -> float:
    value = 0.0
    for coefficient in coefficients:
        value = value * x + coefficient
    return value
