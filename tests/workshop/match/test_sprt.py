"""The sequential test: published values, the two models, its end."""

import itertools
import math

import pytest

from knightadder.workshop.match.statistics.sprt import Sprt


@pytest.mark.parametrize(
    ("counts", "elo0", "elo1", "normalized", "logistic"),
    [
        ((10, 40, 100, 60, 20), 0, 5, 0.78342, 1.10391),
        ((100, 900, 2000, 1000, 120), 0, 2, 1.25090, 1.98456),
        ((100, 900, 2000, 1000, 120), -3, 1, 3.04745, 5.58071),
        ((0, 0, 5, 3, 0), 0, 5, 0.06895, 0.11422),
    ],
)
def test_the_ratio_is_what_fishtest_and_openbench_compute(counts, elo0, elo1, normalized, logistic):
    assert Sprt(elo0, elo1).llr(counts) == pytest.approx(normalized, abs=6e-6)
    assert Sprt(elo0, elo1, model="logistic").llr(counts) == pytest.approx(logistic, abs=6e-6)


@pytest.mark.parametrize("model", ["normalized", "logistic"])
@pytest.mark.parametrize(("elo0", "elo1"), [(0, 5), (-200, 200)])
@pytest.mark.parametrize("many", [400, 10**8])
def test_strange_results_have_a_ratio(model, elo0, elo1, many):
    sprt = Sprt(elo0, elo1, model=model)
    assert sprt.llr((0,) * 5) == 0.0
    for counts in itertools.product((0, 1, many), repeat=5):
        assert math.isfinite(sprt.llr(counts)), counts
    assert sprt.llr((0, 0, 0, 0, 40)) > 0 > sprt.llr((40, 0, 0, 0, 0))


def test_draws_speak_against_an_advantage():
    for model in ("normalized", "logistic"):
        assert Sprt(0, 5, model=model).llr((0, 0, 900, 0, 0)) < 0


def test_the_hypotheses_as_text():
    assert [Sprt(*elos).hypotheses for elos in ((0.0, 5.0), (-1.75, 0.25))] == ["[0, 5]", "[-1.75, 0.25]"]


def test_the_bounds_are_walds():
    sprt = Sprt(0, 5, alpha=0.05, beta=0.1)
    assert (sprt.lower, sprt.upper) == pytest.approx((math.log(0.1 / 0.95), math.log(0.9 / 0.05)))
    assert Sprt(0, 5).upper == pytest.approx(2.944, abs=1e-3)


def test_the_verdict_falls_at_the_bounds():
    sprt = Sprt(0, 5)
    assert sprt.verdict((0,) * 5) is None
    assert sprt.verdict((10, 40, 100, 60, 20)) is None
    assert sprt.verdict((100, 400, 1000, 600, 200)) == "passed"
    assert sprt.verdict((200, 600, 1000, 400, 100)) == "failed"
