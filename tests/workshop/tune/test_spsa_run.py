"""`knightadder tune spsa`: whole runs, going on from the state, and bad arguments."""

import json
import re
import threading
from random import Random

import pytest

from knightadder import cli
from knightadder.core.search.parameters import PARAMETERS, Parameter
from knightadder.workshop import selfplay
from knightadder.workshop.tune.spsa import Spsa, Tunable
from knightadder.workshop.tune.spsa_run import StateFile, run_trials

TUNABLES = [Tunable("a", 5, 0, 10, 0.5), Tunable("b", 500, 0, 1000, 50.0)]
SETUP = {"nodes": 100}
QUICK = ("--nodes", "60", "--hash", "1")


def _run(capsys, *arguments):
    try:
        status = cli.main(["tune", "spsa", *map(str, arguments)])
    except SystemExit as end:  # argparse
        status = end.code
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def _play(trial):
    """Some results that depend on nothing but the trial."""
    chance = Random(f"{trial.number} {trial.plus}")
    return [chance.choice((-1, 0, 1)) for _ in range(2)]


def _nothing(*_):
    pass


# --- playing -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("concurrency", [1, 3])
def test_the_outcome_does_not_depend_on_the_number_of_threads(concurrency):
    expected, found = Spsa(TUNABLES, 200, 0.1), Spsa(TUNABLES, 200, 0.1)
    while expected.trials:
        expected.answer(sum(_play(expected.trials[0])))
    run_trials(found, [_play] * concurrency, _nothing, _nothing)
    assert found.theta == expected.theta != [5.0, 500.0]


def test_results_count_in_the_order_of_the_trials():
    spsa, later = Spsa(TUNABLES, 8), threading.Event()
    numbers = []

    def play(trial):
        numbers.append(trial.number)
        if trial.number == 1:
            assert later.wait(60)
        if trial.number == 5:
            later.set()
        return [trial.number]

    heard = []
    run_trials(spsa, [play] * 2, lambda results: heard.append((spsa.done, *results)), _nothing)
    assert heard == [(number, number) for number in range(1, 9)]
    assert sorted(numbers) == list(range(1, 9))


def test_no_player_plays_two_trials_at_once():
    spsa = Spsa(TUNABLES, 60)
    busy = [threading.Lock() for _ in range(3)]

    def player(lock):
        def play(trial):
            assert lock.acquire(blocking=False)
            try:
                return _play(trial)
            finally:
                lock.release()

        return play

    run_trials(spsa, [player(lock) for lock in busy], _nothing, _nothing)
    assert spsa.done == 60


def test_what_goes_wrong_in_a_game_is_heard_of():
    stopped = []

    def play(trial):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_trials(Spsa(TUNABLES, 60), [play] * 2, _nothing, lambda: stopped.append(True))
    assert stopped == [True]


# --- the state -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("broken_off", [1, 9, 10, 57, 119])
def test_going_on_after_ctrl_c_is_the_same_as_an_unbroken_run(tmp_path, broken_off):
    unbroken = Spsa(TUNABLES, 120, 0.1)
    all_games = StateFile(None, unbroken, SETUP)
    run_trials(unbroken, [_play], all_games.add, _nothing)

    file = tmp_path / "state.json"
    spsa = Spsa(TUNABLES, 120, 0.1)
    state = StateFile(file, spsa, SETUP)

    def on_results(results):
        state.add(results)
        if spsa.done == broken_off:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_trials(spsa, [_play] * 2, on_results, _nothing)
    state.save()

    again = Spsa(TUNABLES, 120, 0.1)
    state = StateFile(file, again, SETUP)
    assert again.done == broken_off
    run_trials(again, [_play] * 2, state.add, _nothing)
    assert again.theta == unbroken.theta
    assert state.counts == all_games.counts
    assert sum(state.counts) == 240


def test_the_file_is_written_every_few_iterations_and_replaced_whole(tmp_path):
    file = tmp_path / "state.json"
    spsa = Spsa(TUNABLES, 30)
    state = StateFile(file, spsa, SETUP)
    seen = set()

    def on_results(results):
        state.add(results)
        if file.exists():
            seen.add(json.loads(file.read_text())["spsa"]["done"])

    run_trials(spsa, [_play], on_results, _nothing)
    assert seen == {10, 20, 30}
    assert list(tmp_path.iterdir()) == [file]


# --- the command ---------------------------------------------------------------------------------------------------


@pytest.fixture
def short_games(monkeypatch):
    """Let games be decided early."""
    monkeypatch.setattr(selfplay, "RESIGN_SCORE", 50)
    monkeypatch.setattr(selfplay, "RESIGN_PLIES", 2)


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


def test_ctrl_c_keeps_what_was_played(capsys, tmp_path, monkeypatch, short_games):
    file = tmp_path / "state.json"
    arguments = ["--iterations", 3, *QUICK, "--state", file, "--r-end", 1]
    unbroken = _values(_run(capsys, *arguments[:-4], "--r-end", 1)[1])
    add = StateFile.add

    def interrupted(self, results):
        add(self, results)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(StateFile, "add", interrupted)
        status, out, err = _run(capsys, *arguments)
    assert status == 130
    assert "1 of 3 pairs" in out
    assert err == f"The state is in {file}; the same command goes on from there\n"
    status, out, _ = _run(capsys, *arguments)
    assert status == 0
    assert out.startswith("3/3 pairs")
    assert _values(out) == unbroken


@pytest.fixture
def no_games(monkeypatch):
    """See to it that no game is begun."""

    def play_pair(*_):
        raise AssertionError

    monkeypatch.setattr(selfplay.SelfPlay, "play_pair", play_pair)


@pytest.mark.parametrize(
    ("other", "differing"),
    [
        (["--nodes", 61], "nodes"),
        (["--iterations", 3], "iterations"),
        (["--seed", 2, "--hash", 2], "hash, seed"),
        (["--r-end", 0.5], "r-end"),
        (["--openings", "plies=4"], "openings"),
        (["--parameters", PARAMETERS[1].name], "parameters"),
    ],
)
def test_the_state_of_another_run_is_refused(capsys, tmp_path, no_games, other, differing):
    file = tmp_path / "state.json"
    arguments = ["--iterations", 2, *QUICK, "--parameters", PARAMETERS[0].name, "--state", file]
    parameter = Tunable.of(PARAMETERS[0])
    spsa = Spsa([parameter], 2)
    from knightadder.workshop.openings import load_book

    setup = {
        "parameters": [[parameter.name, parameter.start, parameter.low, parameter.high, parameter.c_end]],
        "iterations": 2,
        "nodes": 60,
        "hash": 1,
        "openings": ["built-in", load_book().digest],
        "seed": 1,
        "r-end": 0.002,
    }
    state = StateFile(file, spsa, setup)
    run_trials(spsa, [_play], state.add, _nothing)
    state.save()
    assert _run(capsys, *arguments)[0] == 0
    before = file.read_bytes()
    status, out, err = _run(capsys, *arguments, *other)
    assert (status, out) == (2, "")
    assert err == f"knightadder: {file} belongs to another run, with other {differing}: give another --state\n"
    assert file.read_bytes() == before


@pytest.mark.parametrize("text", ["", "{", "[]", "5", "{}", '{"setup": {}}', '{"setup": 5}', "\udcff"])
def test_what_is_no_state_is_refused(capsys, tmp_path, no_games, text):
    file = tmp_path / "state.json"
    file.write_bytes(text.encode(errors="surrogateescape"))
    status, out, err = _run(capsys, "--iterations", 2, "--state", file)
    assert (status, out) == (2, "")
    assert re.fullmatch(rf"knightadder: {re.escape(str(file))} (is not the state|belongs to another run).*\n", err)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--parameters", "nonsense"], "there is no parameter nonsense; there are "),
        (["--parameters", ""], "there is no parameter ; there are "),
        (["--concurrency", 33], "--concurrency 33: expected 32 or less"),
        (["--openings", "file=nowhere.epd"], "cannot read nowhere.epd: "),
        (["--openings", "games=1"], "--openings games=1: there is no key games; "),
        (["--state", "nowhere/state.json"], "cannot write nowhere/state.json: "),
        (["--state", "."], "cannot read .: "),
    ],
)
def test_bad_values_give_one_line(capsys, tmp_path, monkeypatch, no_games, arguments, message):
    monkeypatch.chdir(tmp_path)
    status, out, err = _run(capsys, "--iterations", 2, *arguments)
    assert (status, out) == (2, "")
    assert err.startswith(f"knightadder: {message}")
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_bad_opening_is_found_before_any_game(capsys, tmp_path, no_games):
    file = tmp_path / "a.epd"
    file.write_text("nonsense\n")
    status, _, err = _run(capsys, "--iterations", 2, "--openings", f"file={file}")
    assert (status, err) == (2, "knightadder: a: not a position: nonsense\n")


def test_too_large_a_hash_table(capsys):
    status, out, err = _run(capsys, "--iterations", 2, "--hash", 1 << 40)
    assert (status, out) == (2, "")
    assert err.splitlines()[-1] == f"knightadder: not enough memory for a hash table of {1 << 40} MB"


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--iterations", 0],
        ["--iterations", 2, "--r-end", 0],
        ["--iterations", 2, "--r-end", "nan"],
        ["--iterations", 2, "--all", "--parameters", PARAMETERS[0].name],
    ],
)
def test_bad_usage(capsys, no_games, arguments):
    assert _run(capsys, *arguments)[0] == 2
