"""Win, draw and loss probabilities."""

import math

import pytest

from knightadder.engine.wdl import win_draw_loss

SCORES = range(-32_000, 32_001, 7)


def test_they_sum_to_a_thousand_and_are_symmetric_and_monotonic() -> None:
    before = (0, 0, 1000)
    for cp in SCORES:
        wins, draws, losses = win_draw_loss(cp)
        assert min(wins, draws, losses) >= 0
        assert wins + draws + losses == 1000
        assert win_draw_loss(-cp) == (losses, draws, wins)
        assert wins >= before[0]
        assert losses <= before[2]
        before = (wins, draws, losses)
    assert win_draw_loss(32_000) == (1000, 0, 0)


@pytest.mark.parametrize("cp", range(-1500, 1501, 50))
def test_the_expected_score_is_near_what_lichess_publishes(cp: int) -> None:
    # https://lichess.org/page/accuracy
    published = 50 + 50 * (2 / (1 + math.exp(-0.00368208 * cp)) - 1)
    wins, draws, _ = win_draw_loss(cp)
    assert (wins + draws / 2) / 10 == pytest.approx(published, abs=1)
