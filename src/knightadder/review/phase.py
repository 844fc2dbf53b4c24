"""The phases of a game, determined by the remaining pieces as on Lichess."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import chess

PHASES = ("opening", "middlegame", "endgame")

# Maximum numbers of pieces, not counting kings and pawns, in the endgame and in the middlegame, as on Lichess.
_ENDGAME, _MIDDLEGAME = 6, 10
_SPARSE_BACK_RANK = 4  # the opening ends when a side has fewer pieces on its back rank


def phase_of(board: chess.Board) -> str:
    """Return the phase of a single position: one of `PHASES`."""
    count = (board.occupied & ~board.kings & ~board.pawns).bit_count()
    if count <= _ENDGAME:
        return "endgame"
    back_ranks = (chess.BB_RANK_1 & board.occupied_co[chess.WHITE], chess.BB_RANK_8 & board.occupied_co[chess.BLACK])
    is_sparse = any(rank.bit_count() < _SPARSE_BACK_RANK for rank in back_ranks)
    return "middlegame" if count <= _MIDDLEGAME or is_sparse else "opening"


def phases(boards: Iterable[chess.Board]) -> Iterator[str]:
    """Yield the phase of each position of a game; a game never returns to an earlier phase."""
    latest = 0
    for board in boards:
        latest = max(latest, PHASES.index(phase_of(board)))
        yield PHASES[latest]
