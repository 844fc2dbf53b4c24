"""Reports: scores as users read them."""

from knightadder.core.layout import MAX_PLY
from knightadder.core.search.transposition import MATE
from knightadder.engine.info import Score
from knightadder.engine.reporting import to_score


def test_values_become_centipawns_or_moves_to_mate() -> None:
    assert to_score(0) == Score(cp=0)
    assert to_score(-123) == Score(cp=-123)
    for plies in range(MAX_PLY):
        # Mate in one is one ply away, mate in two three plies; mated in one takes two, and zero is mate on the board.
        assert to_score(int(MATE) - plies) == Score(mate=(plies + 1) // 2)
        assert to_score(plies - int(MATE)) == Score(mate=-(plies // 2))
    assert to_score(int(MATE) - MAX_PLY - 1).mate is None
