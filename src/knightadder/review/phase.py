"""The phases of a game, by the rule of Lichess: `Divider.scala` of https://github.com/lichess-org/scalachess.

The opening ends when few pieces are left, a back rank is sparse, or the pieces of both sides are mixed. The endgame
begins when even fewer pieces are left.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import chess

PHASES = ("opening", "middlegame", "endgame")

# Maximum numbers of pieces, not counting kings and pawns, in the endgame and in the middlegame.
_ENDGAME, _MIDDLEGAME = 6, 10
_SPARSE_BACK_RANK = 4  # the opening ends when a side has fewer pieces on its back rank
_MOST_MIXED = 150  # the opening ends when all blocks of two by two squares together have more points

# The points of a block of two by two squares, by its numbers of white and of black pieces: a value for each lower rank
# of the block, from the first to the seventh. Blocks with other numbers of pieces have no points.
_MIXED = {
    (1, 0): (8, 7, 6, 5, 4, 3, 2),
    (2, 0): (0, 0, 3, 4, 5, 6, 7),
    (3, 0): (0, 4, 5, 6, 7, 8, 9),
    (4, 0): (0, 4, 5, 6, 7, 8, 9),
    (0, 1): (2, 3, 4, 5, 6, 7, 8),
    (1, 1): (7, 6, 5, 6, 7, 8, 9),
    (2, 1): (5, 6, 7, 8, 9, 10, 11),
    (3, 1): (6, 7, 8, 9, 10, 11, 12),
    (0, 2): (7, 6, 5, 4, 3, 0, 0),
    (1, 2): (9, 8, 7, 6, 5, 4, 3),
    (2, 2): (7, 7, 7, 7, 7, 7, 7),
    (0, 3): (9, 8, 7, 6, 5, 4, 0),
    (1, 3): (10, 9, 8, 7, 6, 5, 4),
    (0, 4): (9, 8, 7, 6, 5, 4, 0),
}
_BLOCK = chess.BB_A1 | chess.BB_B1 | chess.BB_A2 | chess.BB_B2
_BLOCKS = [(rank, _BLOCK << 8 * rank + file) for rank in range(7) for file in range(7)]


def phase_of(board: chess.Board) -> str:
    """Return the phase of a single position: one of `PHASES`."""
    count = (board.occupied & ~board.kings & ~board.pawns).bit_count()
    if count <= _ENDGAME:
        return "endgame"
    back_ranks = (chess.BB_RANK_1 & board.occupied_co[chess.WHITE], chess.BB_RANK_8 & board.occupied_co[chess.BLACK])
    is_sparse = any(rank.bit_count() < _SPARSE_BACK_RANK for rank in back_ranks)
    return "middlegame" if count <= _MIDDLEGAME or is_sparse or _are_mixed(board) else "opening"


def _are_mixed(board: chess.Board) -> bool:
    """Return whether the pieces of both sides have come close to each other."""
    white, black = board.occupied_co[chess.WHITE], board.occupied_co[chess.BLACK]
    points = 0
    for rank, block in _BLOCKS:
        counts = (white & block).bit_count(), (black & block).bit_count()
        points += _MIXED[counts][rank] if counts in _MIXED else 0
    return points > _MOST_MIXED


def phases(boards: Iterable[chess.Board]) -> Iterator[str]:
    """Yield the phase of each position of a game; a game never returns to an earlier phase."""
    phase, *_ = PHASES
    for board in boards:
        phase = max(phase, phase_of(board), key=PHASES.index)
        yield phase
