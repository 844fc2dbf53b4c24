"""Averages with their uncertainty, and performance ratings, beside independent computation."""

import math
import statistics

import pytest

from knightadder.report.averages import mean, performance, share


def test_an_average_of_one_value_a_game_has_the_usual_error():
    values = [80.0, 90.0, 95.0, 60.0]
    found = mean([value] for value in values)
    assert found.value == statistics.mean(values)
    assert found.margin == pytest.approx(1.96 * statistics.stdev(values) / 2)
    assert (found.count, found.games) == (4, 4)


def test_a_few_results_that_are_the_same_are_not_certain():
    found = share([1.0] * 5)
    assert (found.value, found.count) == (1, 5)
    # Two wins and two losses are added. The exact 95 % interval of five wins in five games is 48 to 100 %.
    assert found.margin == pytest.approx(1.96 * statistics.stdev([1] * 7 + [0] * 2) / 3)
    assert 0.2 < found.margin < 0.52
    many = [1.0, 0.5, 0.0, 1.0] * 250
    assert share(many).margin == pytest.approx(mean([each] for each in many).margin, rel=0.01)
    assert share([1.0]).margin is None and share([]) is None


def test_moves_of_a_game_count_together():
    games = [[1.0] * 10, [0.0] * 10, []]
    found = mean(games)
    assert (found.value, found.count, found.games) == (0.5, 20, 2)
    # Two games, not twenty moves: sums 5 above and 5 below what the average gives.
    assert found.margin == pytest.approx(1.96 * math.sqrt(2 * (25 + 25)) / 20)
    assert mean([[1.0, 3.0]]).margin is None
    assert mean([[], []]) is None


@pytest.mark.parametrize(
    "results",
    [
        [(1.0, 1500), (0.0, 1700), (0.5, 1600)],
        [(0.5, 2000)],
        [(1.0, 800), (0.0, 2600)],
        [(1.0, 1500)] * 99 + [(0.0, 1500)],
    ],
)
def test_a_performance_is_the_rating_that_elo_s_formula_expects_to_score_the_same(results):
    found = performance(results)
    expected = sum(1 / (1 + 10 ** ((rating - found) / 400)) for _, rating in results)
    assert expected == pytest.approx(sum(points for points, _ in results), abs=0.003 * len(results))


@pytest.mark.parametrize(("percent", "difference"), [(50, 0), (60, 72), (65, 110), (75, 193), (80, 240)])
def test_a_performance_is_near_fide_s_table(percent, difference):
    # Table 8.1.1 of FIDE's rating regulations, which is computed by the normal distribution.
    found = performance([(1.0, 1500)] * percent + [(0.0, 1500)] * (100 - percent))
    assert found - 1500 == pytest.approx(difference, abs=4)


@pytest.mark.parametrize("results", [[], [(1.0, 1500)], [(0.0, 1500), (0.0, 1600)]])
def test_there_is_no_performance_without_games_or_if_all_were_won_or_lost(results):
    assert performance(results) is None
