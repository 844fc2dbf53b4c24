"""SPSA: the formulas against fishtest's, rounding and bounds, and convergence by noisy comparisons."""

import math
from random import Random

import pytest

from knightadder.core.search.parameters import PARAMETERS
from knightadder.workshop.tune.spsa import Spsa, Tunable
from knightadder.workshop.tune.trials import AHEAD

WIDE = Tunable("wide", 100, -100_000, 100_000, 10.0)


def games(result):
    """Give the results of the two games of a pair with this result."""
    return [result // 2, result - result // 2]


def _run(spsa, result, until=None):
    """Answer trials, in their order."""
    while spsa.trials and spsa.done != until:
        spsa.answer(games(result(spsa.trials[0])))


# --- the formulas --------------------------------------------------------------------------------------------------


def _fishtest(k, total, c_end, r_end):
    """Perturbation and step of iteration k as fishtest writes them (spsa_handler.py)."""
    alpha, gamma, a_stability = 0.602, 0.101, 0.1 * total
    c = c_end * total**gamma
    a = r_end * c_end**2 * (a_stability + total) ** alpha
    c_k = c / k**gamma
    r_k = a / (a_stability + k) ** alpha / c_k**2
    return c_k, r_k * c_k


@pytest.mark.parametrize("result", [-2, -1, 0, 1, 2])
def test_steps_and_perturbations_are_those_of_fishtest(result):
    total, r_end = 50, 0.01
    spsa = Spsa([WIDE], total, r_end)
    thetas = {0: 100.0}
    while spsa.trials:
        trial, theta = spsa.trials[0], spsa.theta[0]
        perturbation, step = _fishtest(trial.number, total, WIDE.c_end, r_end)
        # Drawn from what was known that many iterations before, and rounded.
        known = thetas[max(trial.number - AHEAD, 0)]
        assert abs(trial.plus[0] - (known + trial.signs[0] * perturbation)) < 1
        assert abs(trial.minus[0] - (known - trial.signs[0] * perturbation)) < 1
        spsa.answer(games(result))
        assert spsa.theta[0] - theta == pytest.approx(step * result * trial.signs[0])
        thetas[trial.number] = spsa.theta[0]
    assert spsa.done == total


def test_parameters_move_independently_and_both_ways():
    tunables = [Tunable(name, 0, -1000, 1000, 10.0) for name in "abc"]
    spsa = Spsa(tunables, 400)
    seen = []
    _run(spsa, lambda trial: seen.append(trial.signs) or 0)
    assert len(set(seen)) == 8
    for column in zip(*seen, strict=True):
        assert abs(sum(column)) < 80  # four standard deviations


def test_another_seed_is_another_run():
    first, second = (Spsa([WIDE] * 8, 10, seed=seed) for seed in (1, 2))
    assert [trial.signs for trial in first.trials] != [trial.signs for trial in second.trials]


# --- rounding and bounds -------------------------------------------------------------------------------------------


def test_rounding_is_right_on_average_and_the_two_sets_always_differ():
    spsa = Spsa([Tunable("a", 3, -50, 50, 0.5)], 4000)
    spsa.theta = [3.3]
    plus, minus = [], []

    def result(trial):
        high, low = (trial.plus, trial.minus) if trial.signs[0] > 0 else (trial.minus, trial.plus)
        plus.append(high[0])
        minus.append(low[0])
        return 0

    _run(spsa, result)
    assert all(high > low for high, low in zip(plus, minus, strict=True))
    # The first ones were drawn before theta was changed. Ten standard deviations of a mean of so many.
    middle = (sum(plus[AHEAD:]) + sum(minus[AHEAD:])) / 2 / len(plus[AHEAD:])
    assert middle == pytest.approx(3.3, abs=0.05)


@pytest.mark.parametrize("start", [0, 10])
@pytest.mark.parametrize("direction", [-2, 2])
def test_nothing_leaves_its_range(start, direction):
    spsa = Spsa([Tunable("a", start, 0, 10, 5.0)], 300, r_end=0.5)
    values = set()

    def result(trial):
        values.update(trial.plus, trial.minus)
        return direction * trial.signs[0]

    while spsa.trials:
        spsa.answer(games(result(spsa.trials[0])))
        assert 0 <= spsa.theta[0] <= 10
    assert spsa.theta[0] == (10 if direction > 0 else 0)
    assert {start, *values} <= set(range(11))
    assert start in values  # at an end to begin with, where one of the two sets stays


def test_perturbations_of_the_engine_s_parameters_change_them():
    for parameter in PARAMETERS:
        tunable = Tunable.of(parameter)
        assert (tunable.name, tunable.start) == (parameter.name, parameter.value)
        assert tunable.low <= tunable.start <= tunable.high
        assert tunable.c_end == max((parameter.high - parameter.low) / 20, 0.5)


# --- convergence ---------------------------------------------------------------------------------------------------


def _games(trial, optimum, scale, chance):
    """Play a pair of games between the sets: 400 Elo are lost at a distance of `scale` from the optimum."""
    elo = [
        -400 * sum(((value - best) / scale) ** 2 for value, best in zip(values, optimum, strict=True))
        for values in (trial.plus, trial.minus)
    ]
    expected = 1 / (1 + 10 ** ((elo[1] - elo[0]) / 400))
    draws = min(expected, 1 - expected) / 2
    luck = [chance.random() for _ in range(2)]
    return sum((x < expected - draws / 2) - (x > expected + draws / 2) for x in luck)


@pytest.mark.parametrize("seed", range(3))
def test_it_finds_the_optimum_by_noisy_games(seed):
    tunables = [Tunable(name, 50, 0, 100, 5.0) for name in "abcd"]
    optimum = (30, 70, 45, 60)
    spsa = Spsa(tunables, 4000, r_end=0.02, seed=seed)
    chance = Random(seed)
    _run(spsa, lambda trial: _games(trial, optimum, 60, chance))
    assert math.dist(spsa.theta, optimum) < 8 < math.dist([50] * 4, optimum) / 3
