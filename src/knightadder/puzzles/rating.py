"""The rating of a puzzle: the lowest level of ``UCI_Elo``, or of a scale below it, that solves the puzzle."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Protocol

import chess.engine

from knightadder.engine.info import Score
from knightadder.engine.strength import CANDIDATES, MAX_ELO, MIN_ELO, Handicap, handicap_for
from knightadder.puzzles.puzzle import Solution
from knightadder.review.accuracy import capped
from knightadder.review.evaluation import Analyst

# Even the engine's lowest level sees short tactics, and half of all puzzles would have its rating. So there are lower
# levels, which only ratings use. Their rising temperature makes the ratings similar to Lichess's.
_LOWEST = 400
_CENTIPAWNS_PER_ELO = 1.35
_STEP = 50
_LEVELS = range(_LOWEST, MAX_ELO + 1, _STEP)
UNSOLVED = MAX_ELO + _STEP  # the rating of a puzzle that no level solves


class Player(Analyst, Protocol):
    """The part of `knightadder.Engine` that a rating needs."""

    def configure(self, options: Mapping[str, str | int | bool]) -> list[str]:
        """Set UCI options."""


def rate(solution: Solution, player: Player, most_nodes: int) -> int:
    """Return the rating of a puzzle, by an engine that is set to levels 50 Elo apart; EngineError if a search fails.

    A weakened engine chooses its move at random, by the scores that a small search gives its candidates. So the
    probability of each move is known, and so is the probability of the whole solution; no random games are needed. The
    rating is the least of the levels that plays the whole solution with a probability of at least one half; a higher
    level is taken to solve what a lower one does. `UNSOLVED` if no level does. Searches have `most_nodes` at most; the
    highest levels would take millions.
    """
    low, high = 0, len(_LEVELS)
    while low < high:
        middle = (low + high) // 2
        if _solves(solution, _LEVELS[middle], player, most_nodes):
            high = middle
        else:
            low = middle + 1
    return _LEVELS[low] if low < len(_LEVELS) else UNSOLVED


def _solves(solution: Solution, elo: int, player: Player, most_nodes: int) -> bool:
    player.configure({"UCI_LimitStrength": True, "UCI_Elo": max(elo, MIN_ELO)})
    handicap = _handicap(elo)
    limit = chess.engine.Limit(nodes=handicap.node_limit(most_nodes))
    probability = 1.0
    for board, move in solution.steps():
        player.new_game()  # hash entries of larger searches would help
        lines = player.analyse(board, limit, multipv=CANDIDATES).lines
        shares = handicap.probabilities([_score(line.score.relative, elo) for line in lines])
        probability *= sum(share for share, line in zip(shares, lines, strict=True) if line.move == move)
        if probability < 0.5:
            return False
    return True


def _handicap(elo: int) -> Handicap:
    """Return the handicap of a level; below the engine's own levels, a lower level chooses moves more randomly."""
    handicap = handicap_for(elo)
    rise = _CENTIPAWNS_PER_ELO * max(0, MIN_ELO - elo)
    return dataclasses.replace(handicap, temperature=handicap.temperature + rise)


def _score(score: chess.engine.Score, elo: int) -> Score:
    """Convert a score; below the engine's own levels, a mate counts only as much as a piece, so it may be missed."""
    if elo < MIN_ELO:
        return Score(cp=capped(score))
    mate = score.mate()
    return Score(cp=score.score()) if mate is None else Score(mate=mate)
