"""Marks: Lichess's thresholds, on both sides of each."""

import math

import chess.pgn
import pytest
from chess.engine import Cp, Mate, MateGiven

from knightadder.review.judgement import Judgement, judge

INACCURACY, MISTAKE, BLUNDER = Judgement


def worse(chances):
    """Give a score with so much less winning chances than 0.1 pawns, by the published formula turned round."""
    left = 2 / (1 + math.exp(-0.00368208 * 10)) - 1 - chances
    return Cp(round(-math.log(2 / (left + 1) - 1) / 0.00368208))


@pytest.mark.parametrize(
    ("loss", "judgement"),
    [
        (0, None),
        (-0.5, None),
        (0.095, None),
        (0.105, INACCURACY),
        (0.195, INACCURACY),
        (0.205, MISTAKE),
        (0.295, MISTAKE),
        (0.305, BLUNDER),
        (0.9, BLUNDER),
    ],
)
def test_by_winning_chances(loss, judgement):
    assert judge(Cp(10), worse(loss)) is judgement


def test_what_is_lost_of_a_great_advantage_does_not_count():
    assert judge(Cp(3000), Cp(1000)) is None
    assert judge(Cp(-1200), Cp(-5000)) is None
    assert judge(Cp(900), Cp(300)) is BLUNDER


@pytest.mark.parametrize(
    ("before", "after", "judgement"),
    [
        # A forced mate is lost.
        (Mate(3), Cp(1000), INACCURACY),
        (Mate(3), Cp(999), MISTAKE),
        (Mate(3), Cp(701), MISTAKE),
        (Mate(3), Cp(700), BLUNDER),
        (Mate(3), Cp(-50), BLUNDER),
        (Mate(3), Mate(-2), BLUNDER),
        # The opponent can now force one.
        (Cp(-1000), Mate(-4), INACCURACY),
        (Cp(-999), Mate(-4), MISTAKE),
        (Cp(-701), Mate(-4), MISTAKE),
        (Cp(-700), Mate(-4), BLUNDER),
        (Cp(100), Mate(-4), BLUNDER),
        # The mate takes longer or comes sooner; the opponent gave it, or gives it up.
        (Mate(2), Mate(9), None),
        (Mate(1), MateGiven, None),
        (Mate(-9), Mate(-1), None),
        (Cp(50), Mate(3), None),
        (Cp(50), MateGiven, None),
        (Mate(-3), Cp(20), None),
        (Mate(-3), Mate(2), None),
    ],
)
def test_mates(before, after, judgement):
    assert judge(before, after) is judgement


def test_marks_and_their_numbers():
    assert [judgement.mark for judgement in Judgement] == ["?!", "?", "??"]
    game = chess.pgn.Game()
    game.add_variation(chess.Move.from_uci("e2e4"), nags=[judgement.nag for judgement in Judgement])
    assert game.variation(0).nags == {2, 4, 6}  # as the PGN standard numbers them
