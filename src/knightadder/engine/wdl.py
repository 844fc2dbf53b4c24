"""Win, draw and loss probabilities from a score, by the two-parameter logistic model that engines commonly use.

A side with a score of x centipawns wins with the probability 1 / (1 + exp((a - x) / b)). It loses with the probability
that the other side, with -x, wins; the rest are draws. So it wins half its games at x = a, and b is the spread. Both
are polynomials of the material on the board: https://github.com/official-stockfish/WDL_model describes the method.
`knightadder tune wdl` fits the constants to games.
"""

import math
from collections.abc import Sequence

# Coefficients of the powers of material / FULL_MATERIAL, the highest first: fitted to 114,804 positions of 1,000 games
# between engines of nearly equal strength, at 20,000 nodes a move, by networks 5, 6 and 7. In games of people a lead is
# worth less: Lichess's formula corresponds to about a = 240 and b = 221.
A = (-724.3, 1498.2, -1083.1, 354.8)
B = (-208.5, 308.6, -118.5, 70.6)

FULL_MATERIAL = 78  # at the start of a game
LEAST_MATERIAL = 17  # games with less are too few to fit to, and most of them are already decided
_VALUES = 1, 3, 3, 5, 9  # of pawn, knight, bishop, rook and queen


def material_of_sets(by_type: Sequence[int]) -> int:
    """Count the material of both sides, pawns as 1, minor pieces 3, rooks 5, queens 9.

    Parameters
    ----------
    by_type : sequence of int
        Bitboards of all men, and of each type of piece from the pawns on.
    """
    return sum(value * squares.bit_count() for value, squares in zip(_VALUES, by_type[1:], strict=False))


def win_draw_loss(cp: int, material: int = FULL_MATERIAL) -> tuple[int, int, int]:
    """Return the expected wins, draws and losses in a thousand games.

    Parameters
    ----------
    cp : int
        Score of a side in centipawns.
    material : int
        Material on the board, see `material_of_sets`.

    Returns
    -------
    tuple of int
        For the side with this score.
    """
    half_won, spread = parameters(material)
    win = round(1000 * win_rate(cp, half_won, spread))
    loss = round(1000 * win_rate(-cp, half_won, spread))
    return win, 1000 - win - loss, loss


def win_rate(cp: float, half_won: float, spread: float) -> float:
    """Return the probability of a win by the logistic curve with these parameters, a and b."""
    exponent = (half_won - cp) / spread
    return 1 / (1 + math.exp(exponent)) if exponent < 500 else 0.0


def parameters(material: int, a: Sequence[float] = A, b: Sequence[float] = B) -> tuple[float, float]:
    """Return the parameters a and b of the curve in centipawns, at this material.

    Parameters
    ----------
    material : int
        See `material_of_sets`.
    a, b : sequence of float
        Coefficients of the polynomials, the engine's own by default.
    """
    share = min(max(material, LEAST_MATERIAL), FULL_MATERIAL) / FULL_MATERIAL
    return _polynomial(a, share), _polynomial(b, share)


def _polynomial(coefficients: Sequence[float], x: float) -> float:
    value = 0.0
    for coefficient in coefficients:
        value = value * x + coefficient
    return value
