"""The rating of a puzzle: the least ``UCI_Elo`` at which the engine solves it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import chess.engine

from knightadder.annotate.evaluation import Analyst
from knightadder.engine.info import Score
from knightadder.engine.strength import CANDIDATES, MAX_ELO, MIN_ELO, handicap_for
from knightadder.puzzles.puzzle import Solution

_STEP = 50
_LEVELS = range(MIN_ELO, MAX_ELO + 1, _STEP)
UNSOLVED = MAX_ELO + _STEP  # the rating of a puzzle that no level solves


class Player(Analyst, Protocol):
    """The part of `knightadder.Engine` that is needed."""

    def configure(self, options: Mapping[str, str | int | bool]) -> list[str]:
        """Set UCI options."""


def rate(solution: Solution, player: Player, most_nodes: int) -> int:
    """Return the rating of a puzzle.

    A weakened engine chooses its move at random, by the scores that a small search gives its candidates. So the
    probabilities of its moves are known, and with them that of the whole solution; no chance is needed.

    Parameters
    ----------
    solution : Solution
        Position and moves.
    player : Player
        The engine, which is set to the levels.
    most_nodes : int
        The most nodes of a search; the highest levels would take millions.

    Returns
    -------
    int
        The least of the levels, 50 Elo apart, that plays the whole solution with a probability of at least one half. A
        higher level is taken to solve what a lower one does. `UNSOLVED` if no level does.

    Raises
    ------
    EngineError
        If a search fails.
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
    player.configure({"UCI_LimitStrength": True, "UCI_Elo": elo})
    handicap = handicap_for(elo)
    limit = chess.engine.Limit(nodes=handicap.node_limit(most_nodes))
    probability = 1.0
    for board, move in solution.steps():
        player.new_game()  # what a search of more nodes has left in the hash table would help
        lines = player.analyse(board, limit, multipv=CANDIDATES).lines
        shares = handicap.probabilities([_score(line.score.relative) for line in lines])
        probability *= sum(share for share, line in zip(shares, lines, strict=True) if line.move == move)
        if probability < 0.5:
            return False
    return True


def _score(score: chess.engine.Score) -> Score:
    mate = score.mate()
    return Score(cp=score.score()) if mate is None else Score(mate=mate)
