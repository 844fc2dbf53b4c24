"""`knightadder tune spsa`: whole runs, going on from the state, and bad arguments."""

import json
import re

import pytest
from command_line import run_command
from inline_pool import thread_pool

from knightadder.core.search.parameters import PARAMETERS, Parameter
from knightadder.digests import source_digest
from knightadder.engine import evaluator
from knightadder.engine.errors import OptionError
from knightadder.workshop.opening_book import load_book
from knightadder.workshop.tune import spsa_picture, spsa_run, trials, trials_run
from knightadder.workshop.tune.spsa import Spsa, Tunable
from knightadder.workshop.tune.trials import run_trials
from knightadder.workshop.tune.trials_run import kept_results

pytestmark = pytest.mark.usefixtures("inline_pool")

QUICK = ("--nodes", "60", "--hash", "1")


def _run(capsys, *arguments):
    return run_command(capsys, "tune", "spsa", *arguments)


def _values(out):
    """Read the lines for the source back."""
    lines = [line.strip().rstrip(",") for line in out.splitlines() if line.startswith("    Parameter(")]
    return [eval(line, {"Parameter": Parameter}) for line in lines]


def test_a_short_run_of_all_parameters(capsys, tmp_path, short_games):
    file = tmp_path / "state.json"
    arguments = ["--iterations", 2, *QUICK, "--r-end", 1]
    status, out, _ = _run(capsys, *arguments, "--state", file, "--interval", 1)
    assert status == 0
    lines = out.splitlines()
    assert re.match(r"1/2 pairs  \S+ games/s  \+\d =\d -\d  \w+ \d+ -> ", lines[0])
    assert lines[1].startswith("2/2 pairs ")
    found = _values(out)
    assert [(p.name, p.low, p.high, p.meaning) for p in found] == [
        (p.name, p.low, p.high, p.meaning) for p in PARAMETERS
    ]
    assert all(parameter.low <= parameter.value <= parameter.high for parameter in found)
    rows = re.findall(r"^ +(\w+) +(\d+) +(\d+\.\d\d) +([+-]\d+\.\d\d) +(\d+) +(\d+) *$", out, re.MULTILINE)
    assert [(name, int(start), int(low), int(high)) for name, start, _, _, low, high in rows] == [
        (p.name, p.value, p.low, p.high) for p in PARAMETERS
    ]
    for _, start, now, change, _, _ in rows:
        assert float(now) == pytest.approx(int(start) + float(change))
    # The same games come out of another run, with more threads; and a run that is complete only shows its results.
    more = _run(capsys, *arguments, "--concurrency", 2)
    assert (more[0], _values(more[1])) == (0, found)
    again = _run(capsys, *arguments, "--state", file)
    assert (again[0], again[2]) == (0, "")
    assert again[1].splitlines() == lines[2:]


def test_only_the_parameters_named(capsys, short_games):
    names = [PARAMETERS[3].name, PARAMETERS[1].name]
    status, out, _ = _run(capsys, "--parameters", ",".join(names), "--iterations", 1, *QUICK)
    assert status == 0
    assert [parameter.name for parameter in _values(out)] == names[::-1]


def test_c_end_and_r_end_of_one_parameter(capsys, tmp_path, monkeypatch, short_games):
    monkeypatch.setattr(trials.TrialPlayer, "results", staticmethod(lambda data: [1, 1]))  # the first set always wins
    first, second = (parameter.name for parameter in PARAMETERS[:2])
    arguments = ["--parameters", f"{first},{second}", "--iterations", 1, *QUICK]
    arguments += ["--r-end", 0.1, "--r-end", f"{second}=0.5", "--c-end", f"{second}=2"]
    status, out, _ = _run(capsys, *arguments)
    assert status == 0
    changes = dict(re.findall(r"^ +(\w+) +\d+ +\d+\.\d\d +[+-](\d+\.\d\d) ", out, re.MULTILINE))
    usual = Tunable.of(PARAMETERS[0]).c_end
    assert {name: float(change) for name, change in changes.items()} == {
        first: pytest.approx(2 * 0.1 * usual, abs=0.005),
        second: pytest.approx(2 * 0.5 * 2, abs=0.005),
    }


def test_games_with_a_clock(capsys, tmp_path, short_games):
    file = tmp_path / "state.jsonl"
    status, out, _ = _run(capsys, "--iterations", 1, "--tc", "0:00.5+.01", "--hash", 1, "--state", file)
    assert status == 0
    assert "1 of 1 pairs" in out
    assert json.loads(file.read_text().splitlines()[0])["tc"] == "0.5+0.01"
    again = ["--iterations", 1, "--hash", 1, "--state", file]
    for other, differing in ((["--tc", "1+0.01"], "tc"), (["--nodes", 60], "nodes, tc")):
        status, _, err = _run(capsys, *again, *other)
        assert status == 2
        assert f"belongs to a run with other settings ({differing}): " in err
    assert _run(capsys, *again, "--tc", "0.5+0.01")[:2] == (0, out[out.index("1 of 1 pairs") :])


def test_games_whose_clock_counts_nodes(capsys, tmp_path, short_games):
    files = [tmp_path / name for name in ("one.jsonl", "two.jsonl")]
    clock = ["--tc", "0.5+0.01", "--nodestime", 20]
    for file in files:
        assert _run(capsys, "--iterations", 1, *clock, "--hash", 1, "--state", file)[0] == 0
    one, two = (file.read_text().splitlines() for file in files)
    assert json.loads(one[0])["nodestime"] == 20
    assert one == two  # unlike real time, such games can be repeated
    again = ["--iterations", 1, "--tc", "0.5+0.01", "--hash", 1, "--state", files[0]]
    status, _, err = _run(capsys, *again)
    assert status == 2
    assert "belongs to a run with other settings (nodestime): " in err


def test_a_picture_that_cannot_be_drawn_ends_no_games(capsys, tmp_path, monkeypatch, short_games):
    asked = []

    def fail(spsa, file):
        asked.append(spsa.done)
        if spsa.done < spsa.total:
            raise OptionError("no space left")

    monkeypatch.setattr(spsa_picture, "draw", fail)
    monkeypatch.setattr(spsa_run, "_PATH_STEP", 1)
    arguments = ["--parameters", PARAMETERS[0].name, "--iterations", 4, *QUICK, "--plot", tmp_path / "theta.png"]
    assert _run(capsys, *arguments)[0] == 0
    assert asked[-1] == 4 and len(asked) > 3


@pytest.fixture
def finished(tmp_path):
    """Give a run of two pairs that is finished: its file, and its arguments."""
    file = tmp_path / "results.jsonl"
    parameter = Tunable.of(PARAMETERS[0])
    setup = {
        "parameters": [[parameter.name, parameter.start, parameter.low, parameter.high, parameter.c_end]],
        "iterations": 2,
        "nodes": 60,
        "hash": 1,
        "openings": ["built-in", load_book().digest],
        "seed": 1,
        "r-end": 0.002,
        "sources of the engine": source_digest(),
    }
    spsa = Spsa([parameter], 2)
    with kept_results(file, spsa, setup) as keep, thread_pool(lambda item: bytes([2, 1])) as pool:
        for results in run_trials(spsa, pool, load_book()):
            keep(results)
    return file, ["--iterations", 2, *QUICK, "--parameters", PARAMETERS[0].name, "--state", file]


@pytest.mark.parametrize(
    ("other", "differing"),
    [
        (["--nodes", 61], "nodes"),
        (["--iterations", 3], "iterations"),
        (["--seed", 2, "--hash", 2], "hash, seed"),
        (["--r-end", 0.5], "r-end"),
        (["--r-end", f"{PARAMETERS[0].name}=0.5"], "r-ends"),
        (["--c-end", f"{PARAMETERS[0].name}=0.5"], "parameters"),
        (["--openings", "plies=4"], "openings"),
        (["--parameters", PARAMETERS[1].name], "parameters"),
    ],
)
def test_the_results_of_another_run_are_refused(capsys, finished, no_games, other, differing):
    file, arguments = finished
    assert _run(capsys, *arguments)[0] == 0
    before = file.read_bytes()
    status, out, err = _run(capsys, *arguments, *other)
    assert (status, out) == (2, "")
    assert err == (
        f"knightadder: {file} belongs to a run with other settings ({differing}): "
        "use the same, or give --restart to forget it\n"
    )
    assert file.read_bytes() == before


def test_a_run_does_not_go_on_with_changed_sources(capsys, finished, no_games, monkeypatch):
    file, arguments = finished
    monkeypatch.setattr(trials_run, "source_digest", lambda: "another")
    status, out, err = _run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert err.startswith(f"knightadder: {file} belongs to a run with other settings (sources of the engine): use")


def test_a_restart_with_a_bad_opening_forgets_nothing(capsys, tmp_path, finished, no_games):
    file, arguments = finished
    before = file.read_bytes()
    book = tmp_path / "book.epd"
    book.write_text("4k3/8/8/8/8/8/8/8 w - -\n")  # without a white king
    status, out, err = _run(capsys, *arguments, "--restart", "--openings", f"file={book}")
    assert (status, out) == (2, "")
    assert "book.epd" in err
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--parameters", "nonsense"], "unknown parameter nonsense; the parameters are "),
        (["--parameters", ""], "unknown parameter ; the parameters are "),
        (["--concurrency", 33], "--concurrency 33: expected 32 or less"),
        (["--openings", "file=nowhere.epd"], "cannot read nowhere.epd: "),
        (["--openings", "games=1"], "--openings games=1: unknown key games; "),
        (["--state", "nowhere/state.json"], "cannot use nowhere/state.json: "),
        (["--state", "."], "cannot use .: "),
        (["--tc", "8+"], "tc=8+: expected [MOVES/]SECONDS"),
        (["--tc", "8", "--cluster", "local:1"], "--tc needs --nodestime with --cluster"),
        (["--nodestime", "100"], "--nodestime needs --tc"),
        (["--r-end", "0"], "--r-end 0: expected a number above 0 up to 1"),
        (["--r-end", "nan"], "--r-end nan: expected a number above 0 up to 1"),
        (["--r-end", "late_moves=2"], "--r-end late_moves=2: expected a number above 0 up to 1"),
        (["--c-end", "late_moves=inf"], "--c-end late_moves=inf: expected a number above 0"),
        (["--c-end", "late_moves"], "--c-end late_moves: expected a number above 0"),
        (["--c-end", "3"], "--c-end 3: expected NAME=C"),
        (["--c-end", "nonsense=3"], "--c-end nonsense=3: nonsense is not among the parameters to tune"),
        (
            ["--parameters", "late_moves", "--r-end", "razoring_margin=1"],
            "--r-end razoring_margin=1: razoring_margin is not among",
        ),
    ],
)
def test_bad_values_give_one_line(capsys, tmp_path, monkeypatch, no_games, arguments, message):
    monkeypatch.chdir(tmp_path)
    status, out, err = _run(capsys, "--iterations", 2, *arguments)
    assert (status, out) == (2, "")
    assert err.startswith(f"knightadder: {message}")
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_without_the_built_in_network_nothing_is_tuned(capsys, tmp_path, no_games, monkeypatch):
    monkeypatch.setattr(evaluator, "BUILT_IN_FILE", tmp_path / "none.nnue")
    status, out, err = _run(capsys, "--iterations", 2)
    assert (status, out) == (2, "")
    assert err.startswith(f"knightadder: cannot read {tmp_path / 'none.nnue'}: ") and err.count("\n") == 1
