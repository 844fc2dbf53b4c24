"""Playing weaker: which handicap the options ask for."""

from itertools import pairwise

import pytest

from knightadder.engine.options import Options
from knightadder.engine.strength import FULL_SKILL, MAX_ELO, MIN_ELO, Handicap, handicap_for


def _options(**values):
    options = Options()
    for name, value in values.items():
        options.set(name.replace("_Level", " Level"), str(value).lower())
    return options


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


def _is_weaker(lower, higher):
    return lower.nodes < higher.nodes and lower.oversight >= higher.oversight


def test_every_level_is_stronger_than_the_one_before():
    skills = [_options(Skill_Level=level).handicap for level in range(FULL_SKILL)]
    assert all(_is_weaker(lower, higher) for lower, higher in pairwise([*skills, handicap_for(MAX_ELO)]))
    ladder = [handicap_for(elo) for elo in range(MIN_ELO, MAX_ELO + 1, 25)]
    assert all(_is_weaker(lower, higher) for lower, higher in pairwise(ladder))
    # No step is so large that a player would notice it as a jump: 25 Elo are at most 30 % more nodes.
    assert max(higher.nodes / lower.nodes for lower, higher in pairwise(ladder)) < 1.3


def test_beyond_the_range_its_ends_hold():
    assert handicap_for(MIN_ELO - 500) == handicap_for(MIN_ELO)
    assert handicap_for(MAX_ELO + 500) == handicap_for(MAX_ELO)


@pytest.mark.parametrize(("wanted", "limit"), [(None, 1000), (1, 1), (999, 999), (1000, 1000), (10**9, 1000)])
def test_the_users_node_limit_stays_an_upper_bound(wanted, limit):
    assert Handicap(1000).node_limit(wanted) == limit


def test_further_lines_have_nodes_of_their_own():
    handicap = Handicap(1000)
    assert [handicap.node_limit(None, lines) for lines in (0, 1, 2, 5)] == [1000, 1000, 1500, 3000]
    assert handicap.node_limit(1200, 5) == 1200


def test_a_short_search_of_many_nodes_has_a_small_hash_table():
    strong = handicap_for(MAX_ELO)
    sizes = [strong.hash_mb(milliseconds) for milliseconds in (1, 30, 300, 60_000)]
    assert sizes == sorted(sizes)
    assert sizes[0] == 1
    assert sizes[-1] == strong.hash_mb() > 50
    assert handicap_for(MIN_ELO).hash_mb(60_000) == 1
