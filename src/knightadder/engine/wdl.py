"""Win, draw and loss probabilities from a score."""

import math

# A logistic model: a side wins half its games at `_HALF_WON` centipawns, and `_SPREAD` says how gradually. The two
# together give an expected score within one per cent of Lichess's published win percentage,
# 50 + 50 (2 / (1 + exp(-0.00368208 cp)) - 1).
_HALF_WON = 240.0
_SPREAD = 221.0


def win_draw_loss(cp: int) -> tuple[int, int, int]:
    """Return the expected wins, draws and losses in a thousand games, for the side whose score in centipawns it is."""
    win = round(1000 / (1 + math.exp((_HALF_WON - cp) / _SPREAD)))
    loss = round(1000 / (1 + math.exp((_HALF_WON + cp) / _SPREAD)))
    return win, 1000 - win - loss, loss
