"""The themes of a puzzle, with Lichess's names (https://lichess.org/training/themes)."""

from __future__ import annotations

from collections.abc import Iterable

import chess
from chess.engine import Score

from knightadder.motifs.line import PlayedLine
from knightadder.motifs.mates import named_mates
from knightadder.motifs.tactics import TACTICS
from knightadder.puzzles.puzzle import Solution
from knightadder.review.phase import phase_of

_CRUSHING = 600  # centipawns, as on Lichess; a smaller lead is called an advantage
_LENGTHS = {1: "oneMove", 2: "short", 3: "long"}  # names by number of the solver's moves
_LONGEST_NAMED_MATE = 5

_ENDGAMES = {
    frozenset[chess.PieceType](): "pawnEndgame",
    frozenset({chess.KNIGHT}): "knightEndgame",
    frozenset({chess.BISHOP}): "bishopEndgame",
    frozenset({chess.ROOK}): "rookEndgame",
    frozenset({chess.QUEEN}): "queenEndgame",
    frozenset({chess.QUEEN, chess.ROOK}): "queenRookEndgame",
}


# Themes that say nothing about the idea of a solution.
_GENERAL = {
    *("veryLong", "opening", "middlegame", "endgame", "advantage", "crushing"),
    *_LENGTHS.values(),
    *_ENDGAMES.values(),
    *(f"mateIn{count}" for count in range(1, _LONGEST_NAMED_MATE + 1)),
}


def themes_of(solution: Solution, score: Score, saves: bool, zugzwang: bool = False) -> tuple[str, ...]:
    """Return the themes of a puzzle in alphabetical order; the arguments are as in `Found`."""
    line = PlayedLine(solution.boards(), solution.moves)
    count = len(line.turns())
    themes = {_LENGTHS.get(count, "veryLong"), *_phase(line.boards[0]), *named_mates(line)}
    themes.update(name for name, has in TACTICS.items() if has(line))
    if zugzwang:
        themes.add("zugzwang")
    if line.boards[-1].is_checkmate():
        themes.add("mate")
        if count <= _LONGEST_NAMED_MATE:
            themes.add(f"mateIn{count}")
    elif saves:
        themes.update(("equality", "defensiveMove"))
    else:
        themes.add("crushing" if score.score(mate_score=100_000) >= _CRUSHING else "advantage")
    return tuple(sorted(themes))


def kind_of(themes: Iterable[str]) -> frozenset[str]:
    """Return the kind of a puzzle: its themes, except those for length, phase and size of advantage."""
    return frozenset(themes) - _GENERAL


def _phase(board: chess.Board) -> list[str]:
    """Return the phase of the game and, in an endgame that has a name, also that name."""
    phase = phase_of(board)
    kinds = frozenset(
        kind
        for kind in (chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN)
        if board.pieces_mask(kind, True) or board.pieces_mask(kind, False)
    )
    return [phase, _ENDGAMES[kinds]] if phase == "endgame" and kinds in _ENDGAMES else [phase]
