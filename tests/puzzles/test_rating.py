"""Ratings: the least Elo that plays the whole solution."""

import math

import chess
import pytest
from scripted_analyst import ScriptedAnalyst

from knightadder import Engine
from knightadder.engine.strength import MAX_ELO, MIN_ELO, handicap_for
from knightadder.puzzles.puzzle import Solution
from knightadder.puzzles.rating import UNSOLVED, rate

LEVELS = range(400, MAX_ELO + 1, 50)
FORK = Solution("2q1k3/8/8/5N2/8/8/6PP/7K w - - 1 2", tuple(map(chess.Move.from_uci, ("f5d6", "e8d7", "d6c8"))))
SACRIFICE = Solution(
    "1r4k1/1q1b1pp1/2p2bnp/1p6/p2PN2P/1B4P1/PPP2Q1N/1K2R3 w - - 0 26",
    tuple(map(chess.Move.from_uci, ("b3f7", "g8f7", "e4d6", "f7f8", "d6b7"))),
)


def _with_gap(gap, from_nodes=1):
    """Give an analyst that sees the right moves from so many nodes on, and them better by a gap."""
    right = {board.epd(): board.san(move) for board, move in FORK.steps()}

    def tell(board, nodes):
        found = right[board.epd()]
        lines = [(0, found), (-gap, "Kg1")]
        return lines if nodes >= from_nodes else [(2000, "Kg1"), (0, found)]

    return ScriptedAnalyst(tell=tell)


def _temperature(elo):
    return handicap_for(elo).temperature + 1.35 * max(0, MIN_ELO - elo)


@pytest.mark.parametrize("nodes", [401, 500, 20_000, 999_999])
def test_the_least_level_that_searches_far_enough(nodes):
    wanted = next(elo for elo in LEVELS if handicap_for(elo).nodes >= nodes)
    assert rate(FORK, _with_gap(2000, nodes), 10**9) == wanted


def test_a_puzzle_that_no_level_solves():
    assert rate(FORK, _with_gap(2000, 10**9), 10**9) == UNSOLVED > MAX_ELO
    assert rate(FORK, _with_gap(2000, 20_000), 10_000) == UNSOLVED  # no search may be so long


@pytest.mark.parametrize("gap", [5, 60, 250, 600])
def test_all_moves_together_are_found_in_half_of_the_tries(gap):
    def probability(elo):
        return (1 / (1 + math.exp(-gap / _temperature(elo)))) ** 2

    wanted = next((elo for elo in LEVELS if probability(elo) >= 0.5), UNSOLVED)
    assert rate(FORK, _with_gap(gap), 10**9) == wanted


def test_ratings_spread_below_the_lowest_level_of_the_engine():
    ratings = [rate(FORK, _with_gap(gap), 10**9) for gap in (130, 250, 400, 600, 800)]
    assert ratings == sorted(set(ratings), reverse=True)
    assert ratings[0] > MIN_ELO > ratings[2]


@pytest.mark.parametrize(("second", "rating"), [(900, MIN_ELO), (500, 1050), (-1000, 400)])
def test_a_beginner_may_miss_a_mate_but_no_level_of_the_engine(second, rating):
    right = {board.epd(): board.san(move) for board, move in FORK.steps()}
    mate = ScriptedAnalyst({epd: [("#2", san), (second, "Kg1")] for epd, san in right.items()})
    assert rate(FORK, mate, 10**9) == rating


def test_weakened_play_solves_it_as_often_as_the_rating_says():
    # Both play the same searches, and the same seeds make the same choices at any time.
    limit = chess.engine.Limit(nodes=1_000_000)
    with Engine(hash_mb=1) as engine:
        rating = rate(SACRIFICE, engine, limit.nodes)
        engine.configure({"UCI_LimitStrength": True, "UCI_Elo": rating})
        engine._core.random.seed(1)
        solved = 0
        for _ in range(100):
            solved += all(_plays(engine, board, move, limit) for board, move in SACRIFICE.steps())
    assert MIN_ELO <= rating <= MAX_ELO
    assert solved >= 40  # expected are 50 or more; this is two standard deviations less


def _plays(engine, board, move, limit):
    engine.new_game()
    return engine.play(board, limit).move == move
