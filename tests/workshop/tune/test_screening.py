"""Screening: the design, and the estimates against known effects, SciPy's t-test and NumPy's least squares."""

from random import Random

import numpy as np
import pytest
from scipy import stats

from knightadder.elo_formula import elo_of_score, score_of_elo
from knightadder.workshop.tune.screening import ELO_OF_SCORE, Factor, Screening


def _factors(count):
    return [Factor(f"factor {number}", (f"p{number}",), (0,), (1,)) for number in range(count)]


def _run(screening, result):
    """Answer all trials; return their signs and results."""
    signs, results = [], []
    while screening.trials:
        trial = screening.trials[0]
        signs.append(trial.signs)
        results.append(result(trial))
        screening.answer([results[-1] // 2, results[-1] - results[-1] // 2])
    return np.array(signs), np.array(results)


def _games(effects, chance):
    """Return a function that plays a pair of games by the logistic model, half of them drawn."""

    def result(trial):
        expected = score_of_elo(sum(sign * effect for sign, effect in zip(trial.signs, effects, strict=True)))
        draws = min(expected, 1 - expected) / 2
        luck = [chance.random() for _ in range(2)]
        return sum((x < expected - draws) - (x > expected + draws) for x in luck)

    return result


# --- the design ----------------------------------------------------------------------------------------------------


def test_the_sides_have_opposite_halves_of_the_changes():
    group = Factor("group", ("a", "b"), (10, 200), (15, 300))
    single = Factor("single", ("c",), (7,), (3,))
    screening = Screening([group, single], 60)
    assert screening.names == ("a", "b", "c")
    off, on = (10, 200), (15, 300)
    sets = {(1, 1): (*on, 3), (1, -1): (*on, 7), (-1, 1): (*off, 3), (-1, -1): (*off, 7)}
    seen = set()

    def result(trial):
        seen.add(trial.signs)
        assert trial.plus == sets[trial.signs]
        assert trial.minus == sets[tuple(-sign for sign in trial.signs)]
        return 0

    _run(screening, result)
    assert seen == sets.keys()


def test_the_changes_of_a_side_are_independent_tosses_of_a_coin():
    signs, _ = _run(Screening(_factors(6), 2000), lambda trial: 0)
    products = signs.T @ signs  # with four standard deviations of a sum of so many
    assert (np.abs(products - 2000 * np.eye(6)) < 4 * 2000**0.5).all()
    assert (np.abs(signs.sum(axis=0)) < 4 * 2000**0.5).all()


def test_the_changes_depend_on_number_and_seed_only():
    few, many, other = (
        _run(Screening(_factors(8), pairs, seed), lambda trial: trial.number % 3 - 1)[0]
        for pairs, seed in ((40, 1), (90, 1), (40, 2))
    )
    assert (few == many[:40]).all()
    assert not (few == other).all()


# --- the estimates -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_known_effects_are_found(seed):
    chance = Random(seed)
    effects = [chance.gauss(0, 6) for _ in range(12)]
    screening = Screening(_factors(12), 4000, seed)
    _run(screening, _games(effects, chance))
    for effect, found in zip(effects, screening.estimates(), strict=True):
        error = (found.high - found.low) / 2  # nearly two standard errors
        assert abs(found.value - effect) < 2 * error
        assert error < 7
    # They are told apart from each other, not only from nothing.
    assert np.corrcoef(effects, [found.value for found in screening.estimates()])[0, 1] > 0.7


@pytest.mark.parametrize(("count", "pairs"), [(12, 200), (8, 16)])
def test_intervals_cover_19_of_20_effects(count, pairs):
    covered = []
    for seed in range(60):
        chance = Random(seed)
        effects = [chance.gauss(0, 6) for _ in range(count)]
        screening = Screening(_factors(count), pairs, seed)
        _run(screening, _games(effects, chance))
        found = screening.estimates()
        covered += [each.low <= effect <= each.high for effect, each in zip(effects, found, strict=True)]
    # Errors within a run depend on each other a little: four standard deviations.
    assert abs(np.mean(covered) - 0.95) < 4 * (0.95 * 0.05 / len(covered)) ** 0.5


def test_a_single_factor_is_a_t_test():
    screening = Screening(_factors(1), 50)
    signs, results = _run(screening, _games([40], Random(1)))
    expected = stats.ttest_1samp(signs[:, 0] * results / 4, 0).confidence_interval(0.95)
    [found] = screening.estimates()
    assert (found.low, found.high) == pytest.approx((ELO_OF_SCORE * expected.low, ELO_OF_SCORE * expected.high))
    assert found.value == pytest.approx((found.low + found.high) / 2)


def test_several_factors_are_least_squares():
    screening = Screening(_factors(5), 80)
    signs, results = _run(screening, _games([40, 0, -30, 5, 5], Random(1)))
    values, [squares], _, _ = np.linalg.lstsq(signs, results / 4, rcond=None)
    errors = np.sqrt(squares / 75 * np.diag(np.linalg.inv(signs.T @ signs))) * stats.t.ppf(0.975, 75)
    found = screening.estimates()
    assert [each.value for each in found] == pytest.approx(ELO_OF_SCORE * values)
    assert [each.high - each.low for each in found] == pytest.approx(2 * ELO_OF_SCORE * errors)


def test_elo_of_scores_near_a_half():
    assert pytest.approx(elo_of_score(0.501), rel=1e-4) == ELO_OF_SCORE * 0.001


# --- too few results -----------------------------------------------------------------------------------------------


def test_there_are_no_estimates_before_two_pairs_more_than_factors():
    screening = Screening(_factors(1), 6)
    known = []
    _run(screening, lambda trial: known.append(screening.estimates() is not None) or trial.number % 2)
    assert known == [False] * 3 + [True] * 3
    assert (screening.needed, Screening(_factors(9), 6).needed) == (3, 11)


def test_there_are_no_estimates_if_factors_were_never_apart():
    for seed in range(100):
        screening = Screening(_factors(2), 4, seed)
        signs, _ = _run(screening, lambda trial: trial.number % 2)
        never_apart = abs(signs[:, 0] @ signs[:, 1]) == 4
        assert (screening.estimates() is None) == never_apart
        if never_apart:
            return
    raise AssertionError


@pytest.mark.parametrize("result", [lambda trial: 0, lambda trial: 2 * trial.signs[0]])
def test_there_are_no_estimates_without_variance(result):
    screening = Screening(_factors(3), 20)
    _run(screening, result)
    assert screening.estimates() is None
