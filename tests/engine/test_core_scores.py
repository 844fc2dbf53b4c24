"""Scores as users read them."""

from knightadder.core.layout import MAX_PLY
from knightadder.engine.core_scores import MATE, to_score
from knightadder.engine.info import Score


def test_values_become_centipawns_or_moves_to_mate() -> None:
    assert to_score(0) == Score(cp=0)
    assert to_score(-123) == Score(cp=-123)
    for plies in range(MAX_PLY):
        # Mate in one is one ply away, mate in two three plies; mated in one takes two, and zero is mate on the board.
        assert to_score(MATE - plies) == Score(mate=(plies + 1) // 2)
        assert to_score(plies - MATE) == Score(mate=-(plies // 2))
    assert to_score(MATE - MAX_PLY - 1).mate is None
