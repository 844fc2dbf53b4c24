"""The rating of a puzzle on Lichess's scale, computed from the engine's effort and from features of the solution.

The rating is a weighted sum. Its weights are a least-squares fit to 2,164 puzzles of Lichess's database, rated evenly
from 400 to 2800. See docs/puzzles.md for the quality of the fit, which `benchmarks/puzzle_ratings.py` repeats.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import chess
import chess.engine

from knightadder.motifs.tactics import VALUES, balance, is_unsafe
from knightadder.puzzles.puzzle import Solution
from knightadder.review.accuracy import capped
from knightadder.review.game_evaluation import Analyst

LOWEST, HIGHEST = 400, 3000

_EFFORTS = tuple(4**power for power in range(3, 9))  # nodes, from 64 to 65,536
_GLANCE = 400  # nodes of the search that estimates how tempting the moves are
_CANDIDATES = 4  # number of best moves that this search compares
_TEMPERATURE = 100  # a move that is worse by this many centipawns is e times less tempting
_LEAST_CHANCE = 0.01
_MOST_CHECKS, _MOST_CAPTURES, _MOST_GAIN = 6, 6, 9

_BASE = 1202.0
WEIGHTS = {
    "effort": 48.7,
    "doubt": -30.4,
    "least": -385.2,
    "moves": 199.7,
    "captures": -35.9,
    "retakes": -120.4,
    "sacrifices": -19.7,
    "backward": 55.6,
    "first_check": -256.1,
    "other_checks": 270.3,
    "other_captures": 193.6,
    "in_check": 221.5,
    "gain": -18.3,
    "mate": -137.1,
}


class _Step(NamedTuple):
    """A move of the solver, the boards before and after it, and the target square of the reply before it."""

    before: chess.Board
    move: chess.Move
    after: chess.Board
    previous: chess.Square | None


def rate(solution: Solution, analyst: Analyst) -> int:
    """Return the rating of a puzzle, from `LOWEST` to `HIGHEST`, which depends only on the solution."""
    values = parts(solution, analyst)
    rating = _BASE + sum(weight * values[name] for name, weight in WEIGHTS.items())
    return round(min(max(rating, LOWEST), HIGHEST))


def parts(solution: Solution, analyst: Analyst) -> Mapping[str, float]:
    """Return the terms of the sum, without weights, by name; EngineError if a search fails."""
    return {**_looks(solution), **_costs(solution, analyst)}


def _steps(solution: Solution) -> Iterator[_Step]:
    boards, moves = solution.boards(), solution.moves
    previous = solution.previous
    for turn in range(0, len(moves), 2):
        last = moves[turn - 1] if turn else previous
        yield _Step(boards[turn], moves[turn], boards[turn + 1], last.to_square if last else None)


def _costs(solution: Solution, analyst: Analyst) -> Mapping[str, float]:
    """Return the terms of the sum that measure the engine's effort for the moves of the solution.

    ``effort`` is the number of searches, over all moves, that are too short to settle on the right move. ``doubt``
    measures how unlikely a player who only glances at the positions is to find all moves. ``least`` is the chance of
    finding the most difficult move.
    """
    effort, chances = 0, []
    for board, move in solution.steps():
        effort += _effort(board, move, analyst)
        chances.append(_chance(board, move, analyst))
    return {
        "effort": effort,
        "doubt": -sum(math.log(max(chance, _LEAST_CHANCE)) for chance in chances),
        "least": min(chances),
    }


def _effort(board: chess.Board, move: chess.Move, analyst: Analyst) -> int:
    """Return how many searches, beginning with the shortest, are too short for the engine to settle on a move."""
    for count in range(len(_EFFORTS), 0, -1):
        analyst.new_game()
        if analyst.analyse(board, chess.engine.Limit(nodes=_EFFORTS[count - 1])).best.move != move:
            return count
    return 0


def _chance(board: chess.Board, move: chess.Move, analyst: Analyst) -> float:
    """Return the chance that a player prefers a move to the best other move, by their scores in a short search."""
    analyst.new_game()
    lines = analyst.analyse(board, chess.engine.Limit(nodes=_GLANCE), multipv=_CANDIDATES).lines
    own = [capped(line.score.relative) for line in lines if line.move == move]
    others = [capped(line.score.relative) for line in lines if line.move != move]
    if not own or not others:
        return float(bool(own))
    return 1 / (1 + math.exp((max(others) - own[0]) / _TEMPERATURE))


def _looks(solution: Solution) -> Mapping[str, float]:
    """Return features of the solution: the number of moves of each kind, and the choices in the first position."""
    steps = list(_steps(solution))
    first, solver, end = steps[0].before, steps[0].before.turn, steps[-1].after
    checks = [move for move in first.legal_moves if first.gives_check(move)]
    first_check = steps[0].move in checks
    captures = sum(1 for _ in first.generate_legal_captures())
    gain = balance(end, solver) - balance(first, solver)
    return {
        "moves": len(steps),
        "captures": sum(step.before.is_capture(step.move) for step in steps),
        "retakes": sum(step.move.to_square == step.previous for step in steps),
        "sacrifices": sum(map(_is_sacrifice, steps)),
        "backward": sum(map(_is_backward, steps)),
        "first_check": first_check,
        "other_checks": math.log1p(max(min(len(checks), _MOST_CHECKS) - first_check, 0)),
        "other_captures": math.log1p(min(captures, _MOST_CAPTURES)),
        "in_check": first.is_check(),
        "gain": max(-_MOST_GAIN, min(_MOST_GAIN, gain)),
        "mate": end.is_checkmate(),
    }


def _is_sacrifice(step: _Step) -> bool:
    """Return whether a move puts its piece where it can be taken, and captures less than that piece is worth."""
    taken, mover = step.before.piece_type_at(step.move.to_square), step.before.piece_type_at(step.move.from_square)
    if mover is None or step.after.is_checkmate() or step.after.piece_at(step.move.to_square) is None:
        return False
    return (VALUES[taken] if taken else 0) < VALUES[mover] and is_unsafe(step.after, step.move.to_square)


def _is_backward(step: _Step) -> bool:
    ranks = chess.square_rank(step.move.to_square) - chess.square_rank(step.move.from_square)
    return ranks < 0 if step.before.turn == chess.WHITE else ranks > 0
