"""Playing weaker: which handicap the options ask for, and which moves it lets pass."""

import math
from collections import Counter
from itertools import pairwise
from random import Random

import pytest

from knightadder.engine.info import Score
from knightadder.engine.options import Options
from knightadder.engine.strength import (
    FULL_SKILL,
    MAX_ELO,
    MIN_ELO,
    Handicap,
    handicap_for,
)


def _options(**values):
    options = Options()
    for name, value in values.items():
        options.set(name.replace("_Level", " Level"), str(value).lower())
    return options


def _choices(handicap, scores, number=4000):
    random = Random(1)
    return Counter(handicap.choose(scores, random) for _ in range(number))


# --- which handicap ------------------------------------------------------------------------------------------------


def test_full_strength_unless_asked():
    assert Options().handicap is None
    assert _options(UCI_Elo=MIN_ELO).handicap is None
    assert _options(UCI_LimitStrength=False, UCI_Elo=MIN_ELO, Skill_Level=20).handicap is None


def test_elo_counts_if_strength_is_limited_else_skill():
    low, high = handicap_for(MIN_ELO), handicap_for(MAX_ELO)
    assert _options(UCI_LimitStrength=True, UCI_Elo=MIN_ELO).handicap == low
    assert _options(UCI_LimitStrength=True, UCI_Elo=MAX_ELO).handicap == high
    assert _options(UCI_LimitStrength=True, UCI_Elo=MAX_ELO, Skill_Level=0).handicap == high
    assert _options(UCI_Elo=MAX_ELO, Skill_Level=0).handicap == low
    assert _options(Skill_Level=10).handicap == handicap_for((MIN_ELO + MAX_ELO) / 2)


@pytest.mark.parametrize("level", range(FULL_SKILL))
def test_every_skill_level_below_the_last_weakens_and_less_than_the_one_before(level):
    this = _options(Skill_Level=level).handicap
    after = handicap_for(MAX_ELO) if level == FULL_SKILL - 1 else _options(Skill_Level=level + 1).handicap
    assert this.nodes <= after.nodes
    assert this.temperature > after.temperature


def test_more_elo_is_never_weaker():
    ladder = [handicap_for(elo) for elo in range(MIN_ELO, MAX_ELO + 1)]
    for lower, higher in pairwise(ladder):
        assert 0 < lower.nodes <= higher.nodes
        assert lower.temperature >= higher.temperature > 0
    # No step is so large that a player would notice it as a jump: some seventy of them make a doubling.
    assert max(higher.nodes / lower.nodes for lower, higher in pairwise(ladder)) < 1.05


@pytest.mark.parametrize(("wanted", "limit"), [(None, 1000), (1, 1), (999, 999), (1000, 1000), (10**9, 1000)])
def test_the_users_node_limit_stays_an_upper_bound(wanted, limit):
    assert Handicap(1000, 50.0).node_limit(wanted) == limit


# --- which move ----------------------------------------------------------------------------------------------------


def test_chances_fall_off_by_e_for_each_temperature():
    scores = [Score(cp=30), Score(cp=30 - 50), Score(cp=30), Score(cp=30 - 100)]
    weights = [1.0, math.exp(-1), 1.0, math.exp(-2)]
    chosen = _choices(Handicap(1, 50.0), scores, 20_000)
    for index, weight in enumerate(weights):
        chance = weight / sum(weights)
        # Five standard deviations of a binomial distribution.
        assert chosen[index] / 20_000 == pytest.approx(chance, abs=5 * math.sqrt(chance * (1 - chance) / 20_000))


def test_strength_is_fewer_bad_moves():
    scores = [Score(cp=0), Score(cp=-60), Score(cp=-150), Score(cp=-400)]
    losses = []
    for elo in (1200, 1600, 2000, 2600):
        chosen = _choices(handicap_for(elo), scores)
        losses.append(sum(-scores[index].cp * times for index, times in chosen.items()))
    assert losses == sorted(losses, reverse=True)
    assert len(set(losses)) == 4


def test_a_blunder_is_rare_even_at_the_lowest_strength():
    chosen = _choices(handicap_for(MIN_ELO), [Score(cp=0), Score(cp=-900)])
    assert chosen[1] < 240  # of 4000


@pytest.mark.parametrize(
    ("scores", "index"),
    [
        ([Score(mate=2), Score(cp=900)], 0),
        ([Score(cp=900), Score(mate=7)], 1),
        ([Score(mate=5), Score(cp=3), Score(mate=3), Score(mate=4)], 2),
        ([Score(mate=-3), Score(cp=-2000)], 1),
        ([Score(mate=-3), Score(mate=-5), Score(mate=-4)], 1),
        ([Score(mate=-1), Score(cp=-900), Score(mate=-8)], 1),
        ([Score(cp=-50)], 0),
        ([Score(mate=-1)], 0),
    ],
)
def test_mates_that_are_seen_are_played_and_not_walked_into(scores, index):
    assert set(_choices(Handicap(1, 300.0), scores, 500)) == {index}


def test_a_score_far_from_all_others_is_no_overflow():
    assert _choices(Handicap(1, 0.5), [Score(cp=-30_000), Score(cp=30_000)], 10) == {1: 10}
