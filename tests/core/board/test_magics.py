"""Magic factors: every occupancy of every square finds its own attack set."""

from __future__ import annotations

import chess
import numpy as np
import pytest
from core_helpers import TABLES

from knightadder.core.board import attacks, magics
from knightadder.native.program import INTERPRETED

ROOKS = (attacks.ROOK_DIRECTIONS, TABLES.rook)
BISHOPS = (attacks.BISHOP_DIRECTIONS, TABLES.bishop)


def expected(directions: tuple, square: int, occupied: int) -> int:
    """Attacks of a slider by python-chess's own tables."""
    if directions is attacks.BISHOP_DIRECTIONS:
        return chess.BB_DIAG_ATTACKS[square][chess.BB_DIAG_MASKS[square] & occupied]
    ranks = chess.BB_RANK_ATTACKS[square][chess.BB_RANK_MASKS[square] & occupied]
    return ranks | chess.BB_FILE_ATTACKS[square][chess.BB_FILE_MASKS[square] & occupied]


@pytest.mark.parametrize(("directions", "slider"), [ROOKS, BISHOPS], ids=["rook", "bishop"])
def test_every_occupancy(directions: tuple, slider: np.ndarray) -> None:
    for square, magic in enumerate(slider):
        occupied = attacks.occupancies(int(magic.mask))
        index = magic.offset + ((occupied * magic.factor) >> magic.shift)
        sets = TABLES.slider[index]
        assert [int(s) for s in sets] == [expected(directions, square, int(o)) for o in occupied]


@pytest.mark.skipif(INTERPRETED, reason="too slow without the compiler")
def test_the_script_finds_the_factors_that_are_shipped() -> None:
    import find_magics  # which loads Numba

    state = np.array([find_magics.SEED], np.uint64)
    for square in range(8):  # the search goes on from one square to the next, so these stand for all
        mask = attacks.relevant_mask(square, attacks.ROOK_DIRECTIONS)
        occupied = attacks.occupancies(mask)
        sets = attacks.slider_attacks(square, attacks.ROOK_DIRECTIONS, occupied)
        factor = find_magics.find_magic(occupied, sets, np.uint64(64 - mask.bit_count()), state)
        assert int(factor) == magics.ROOK[square]
