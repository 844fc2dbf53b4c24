"""Packed scores and their blend."""

from __future__ import annotations

import random

import numpy as np
import pytest
from compiling import compiled
from core_helpers import new_game, set_up

from knightadder.core.evaluation import score

pytestmark = [pytest.mark.boundscheck, pytest.mark.nojit]


@compiled
def halves(packed):
    return score.middle_game(packed), score.end_game(packed)


@compiled
def phase(pos):
    return score.game_phase(pos)


@compiled
def blended(pos, packed, weight, scale):
    return score.blend(pos, packed, weight, scale)


def test_halves_and_multiples_of_a_packed_score() -> None:
    generator = random.Random(1)
    for _ in range(100):
        middle, end, count = (generator.randint(-30_000, 30_000) for _ in range(3))
        packed = score.pack(middle, end)
        assert halves(np.int64(packed)) == (middle, end)
        assert halves(np.int64(packed * count)) == (middle * count, end * count)
        assert score.unpack(np.array([packed, -packed])).tolist() == [[middle, end], [-middle, -end]]


def test_the_phase_falls_with_the_pieces() -> None:
    game = new_game()
    for fen, expected in (
        (None, 24),
        ("4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 w - - 0 1", 0),
        ("r3k3/8/8/8/8/8/8/QNB1K3 w - - 0 1", 8),
        ("qqqqk3/8/8/8/8/8/8/QQQQK3 w - - 0 1", 24),
    ):
        assert phase(set_up(game, fen).stack[0]) == expected, fen


def test_the_blend_is_symmetric_and_scales_the_end_game_alone() -> None:
    game = new_game()
    packed = np.int64(score.pack(100, -250))
    for fen, sign in (("4k3/8/8/8/8/8/8/4K3 w - - 0 1", 1), ("4k3/8/8/8/8/8/8/4K3 b - - 0 1", -1)):
        pos = set_up(game, fen).stack[0]
        assert blended(pos, packed, 24, 64) == 100 * sign
        assert blended(pos, packed, 0, 64) == -250 * sign
        assert blended(pos, packed, 0, 16) == (-250 * sign * 16) // 64
        assert blended(pos, packed, 12, 64) == -75 * sign
