"""`knightadder tune screen`: its factors, whole runs, going on from the state, and bad arguments."""

import re
from random import Random

import pytest
from command_line import run_command

from knightadder.core.search.parameters import PARAMETERS, Parameter
from knightadder.engine.errors import OptionError
from knightadder.workshop.tune.screening import Factor
from knightadder.workshop.tune.screening_run import read_factors

pytestmark = pytest.mark.usefixtures("inline_pool")

A, B, C = ([each.name, each.low, each.high] for each in PARAMETERS[:3])
SINGLE = f"{A[0]}={A[1]}:{A[2]}"
GROUP = f"both:{B[0]}={B[2]}:{B[1]},{C[0]}={C[1]}:{C[2]}"


def _run(capsys, *arguments):
    return run_command(capsys, "tune", "screen", *arguments)


# --- the factors ---------------------------------------------------------------------------------------------------

KNOWN = [Parameter(name, 5, 0, 10, "units") for name in "abc"]


@pytest.mark.parametrize(
    ("text", "factor"),
    [
        ("a=1:10", Factor("a", ("a",), (1,), (10,))),
        ("slow:a=1:0", Factor("slow", ("a",), (1,), (0,))),
        ("b=1:2,a=3:4", Factor("b,a", ("b", "a"), (1, 3), (2, 4))),
        ("two words:b=1:2,a=3:4", Factor("two words", ("b", "a"), (1, 3), (2, 4))),
        ("b:a=3:4", Factor("b", ("a",), (3,), (4,))),
    ],
)
def test_factors(text, factor):
    assert read_factors([text], KNOWN) == [factor]
    assert read_factors([text, "c=0:1"], KNOWN) == [factor, Factor("c", ("c",), (0,), (1,))]


FORM = "expected [LABEL:]NAME=OFF:ON[,NAME=OFF:ON...]"


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ([""], f": {FORM}, with two whole numbers"),
        (["a"], f"a: {FORM}, with two whole numbers"),
        (["x:"], f"x:: {FORM}, with two whole numbers"),
        ([":a=1:2"], f":a=1:2: {FORM}"),
        (["a=1"], f"a=1: {FORM}, with two whole numbers"),
        (["a=1:2:3"], f"a=1:2:3: {FORM}, with two whole numbers"),
        (["a=1:2.5"], f"a=1:2.5: {FORM}, with two whole numbers"),
        (["a=1:2,"], f"a=1:2,: {FORM}, with two whole numbers"),
        (["a=1:2", "x:b=1:2;c=1:2"], f"x:b=1:2;c=1:2: {FORM}, with two whole numbers"),
        (["d=1:2"], "unknown parameter d; the parameters are a, b, c"),
        (["=1:2"], "unknown parameter ; the parameters are a, b, c"),
        (["x:a=1:2,b=-1:3"], "b=-1:3: expected values from 0 to 10"),
        (["a=1:11"], "a=1:11: expected values from 0 to 10"),
        (["a=4:4"], "a=4:4: expected two different values"),
        (["a=1:2,a=3:4"], "the parameter a is given more than once"),
        (["a=1:2", "x:b=1:2,a=3:4"], "the parameter a is given more than once"),
        (["x:a=1:2", "x:b=1:2"], "the label x is given more than once"),
        (["b:a=1:2", "b=1:2"], "the label b is given more than once"),
    ],
)
def test_bad_factors(texts, message):
    with pytest.raises(OptionError) as error:
        read_factors(texts, KNOWN)
    assert str(error.value) == message


# --- the command ---------------------------------------------------------------------------------------------------


@pytest.fixture
def tossed_games(monkeypatch):
    """Let coins decide games, and a little the first factor."""

    def play_pair(self, opening, first, second):
        assert {first[A[0]], second[A[0]]} == set(A[1:])
        assert (first[B[0]] == B[1]) == (first[C[0]] == C[2]) != (second[C[0]] == C[2])
        chance = Random(f"{opening} {first}")
        sign = 1 if first[A[0]] == A[2] else -1
        return chance.choice((-1, 0, 1)), chance.choice((0, sign))

    monkeypatch.setattr("knightadder.workshop.selfplay.SelfPlay.play_pair", play_pair)


def _table(out):
    """Read the rows of the table back."""
    rows = re.findall(r"^ +(\S+) +(\d+(?:, \d+)*) +(\d+(?:, \d+)*) +([+-]\d+\.\d) ± (\d+\.\d) *$", out, re.MULTILINE)
    return [(label, off, on, float(elo), float(error)) for label, off, on, elo, error in rows]


def test_a_run_shows_the_effects_best_first(capsys, tossed_games):
    status, out, _ = _run(capsys, GROUP, SINGLE, "--pairs", 60, "--interval", 30)
    assert status == 0
    lines = out.splitlines()
    effect = r"[+-]\d+\.\d ± \d+\.\d"
    assert re.fullmatch(rf"30/60 pairs  \S+ games/s  \+\d+ =\d+ -\d+  {A[0]} {effect}, both {effect}", lines[0])
    assert lines[1].startswith("60/60 pairs ")
    assert re.match(r"60 of 60 pairs: \+\d+ =\d+ -\d+ for the first of the two sets", lines[2])
    rows = _table(out)
    assert [row[:3] for row in rows] == [
        (A[0], f"{A[1]}", f"{A[2]}"),
        ("both", f"{B[2]}, {C[1]}", f"{B[1]}, {C[2]}"),
    ]
    # A side with the change wins every other of the second games, so an eighth of a point a game more than a half.
    (_, _, _, elo, error), (_, _, _, nothing, other) = rows
    assert abs(elo - 695 / 8) < 2 * error < 2 * elo
    assert abs(nothing) < 2 * other


def test_a_short_run_of_real_games(capsys):
    arguments = [SINGLE, GROUP, "--pairs", 12, "--nodes", 200, "--hash", 1]
    status, out, _ = _run(capsys, *arguments)
    assert status == 0
    assert len(_table(out)) == 2
    more = _run(capsys, *arguments, "--concurrency", 2)
    assert (more[0], _table(more[1])) == (0, _table(out))


def test_a_run_may_go_on_with_more_pairs_but_not_with_fewer(capsys, tmp_path, monkeypatch, tossed_games):
    file = tmp_path / "state.jsonl"
    arguments = [SINGLE, GROUP, "--state", file, "--pairs"]
    assert _run(capsys, *arguments, 10)[0] == 0
    at_once = _table(_run(capsys, SINGLE, GROUP, "--pairs", 50)[1])
    status, out, _ = _run(capsys, *arguments, 50)
    assert (status, _table(out)) == (0, at_once)
    assert _run(capsys, *arguments, 49) == (
        2,
        "",
        f"knightadder: {file} contains more than the 49 pairs of this run: give --restart to forget it\n",
    )


def test_too_few_pairs_are_no_failure(capsys, tossed_games):
    status, out, _ = _run(capsys, SINGLE, GROUP, "--pairs", 3)
    assert status == 0
    assert "3 of 3 pairs: " in out
    assert out.endswith("\nToo few results to estimate the effects of 2 factors: expected at least 4 pairs\n")
    assert _table(out) == []


def test_similar_pairs_are_no_failure(capsys, monkeypatch):
    monkeypatch.setattr("knightadder.workshop.selfplay.SelfPlay.play_pair", lambda *_: (0, 0))
    status, out, _ = _run(capsys, SINGLE, GROUP, "--pairs", 8)
    assert status == 0
    assert out.endswith("\nToo few results to estimate the effects of 2 factors: the 8 pairs are too similar\n")
    assert _table(out) == []
    assert _run(capsys, SINGLE, "--pairs", 2)[1].endswith(" effects of 1 factor: expected at least 3 pairs\n")
