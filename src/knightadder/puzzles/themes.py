"""The themes of a puzzle, by the names of Lichess (https://lichess.org/training/themes)."""

from __future__ import annotations

import chess
from chess.engine import Score

from knightadder.puzzles.puzzle import Solution
from knightadder.puzzles.tactics import TACTICS, PlayedLine

_CRUSHING = 600  # centipawns, as on Lichess; less is an advantage
_LENGTHS = {1: "oneMove", 2: "short", 3: "long"}  # by moves of the solver
_LONGEST_NAMED_MATE = 5

# Counts of pieces besides kings and pawns, as in Lichess's division of a game into phases.
_ENDGAME, _MIDDLEGAME = 6, 10
_SPARSE_BACK_RANK = 4  # pieces of a side's own on its back rank; fewer end the opening

_ENDGAMES = {
    frozenset[chess.PieceType](): "pawnEndgame",
    frozenset({chess.KNIGHT}): "knightEndgame",
    frozenset({chess.BISHOP}): "bishopEndgame",
    frozenset({chess.ROOK}): "rookEndgame",
    frozenset({chess.QUEEN}): "queenEndgame",
    frozenset({chess.QUEEN, chess.ROOK}): "queenRookEndgame",
}


def themes_of(solution: Solution, score: Score, saves: bool) -> tuple[str, ...]:
    """Return the themes of a puzzle in alphabetical order.

    Parameters
    ----------
    solution : Solution
        Position and moves.
    score : Score
        The score of the position for the solver.
    saves : bool
        Whether the solution only holds the balance.
    """
    line = PlayedLine(solution.boards(), solution.moves)
    count = len(line.turns())
    themes = {_LENGTHS.get(count, "veryLong"), *_phase(line.boards[0])}
    themes.update(name for name, has in TACTICS.items() if has(line))
    if line.boards[-1].is_checkmate():
        themes.add("mate")
        if count <= _LONGEST_NAMED_MATE:
            themes.add(f"mateIn{count}")
    elif saves:
        themes.update(("equality", "defensiveMove"))
    else:
        themes.add("crushing" if score.score(mate_score=100_000) >= _CRUSHING else "advantage")
    return tuple(sorted(themes))


def _phase(board: chess.Board) -> list[str]:
    """Return the phase of the game, and the kind of an endgame if it has a name."""
    pieces = board.occupied & ~board.kings & ~board.pawns
    count = pieces.bit_count()
    if count <= _ENDGAME:
        kinds = frozenset(
            kind
            for kind in (chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN)
            if board.pieces_mask(kind, True) or board.pieces_mask(kind, False)
        )
        return ["endgame", *([_ENDGAMES[kinds]] if kinds in _ENDGAMES else [])]
    back_ranks = (chess.BB_RANK_1 & board.occupied_co[chess.WHITE], chess.BB_RANK_8 & board.occupied_co[chess.BLACK])
    is_sparse = any(rank.bit_count() < _SPARSE_BACK_RANK for rank in back_ranks)
    return ["middlegame" if count <= _MIDDLEGAME or is_sparse else "opening"]
