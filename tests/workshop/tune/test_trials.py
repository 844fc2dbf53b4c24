"""Trials of a method: the order of their results, going on from the journal, and what the journal refuses."""

import threading
from random import Random

import pytest

from knightadder.engine.errors import OptionError
from knightadder.workshop.tune.spsa import Spsa, Tunable
from knightadder.workshop.tune.trials import Results, run_trials

# SPSA, since its trials depend on the results before them.
TUNABLES = [Tunable("a", 5, 0, 10, 0.5), Tunable("b", 500, 0, 1000, 50.0)]
SETUP = {"nodes": 100}


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


# --- the results ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("broken_off", [1, 9, 10, 57, 119])
def test_going_on_after_ctrl_c_is_the_same_as_an_unbroken_run(tmp_path, broken_off):
    unbroken = Spsa(TUNABLES, 120, 0.1)
    all_games = Results(None, unbroken, SETUP)
    run_trials(unbroken, [_play], all_games.add, _nothing)

    file = tmp_path / "results.jsonl"
    spsa = Spsa(TUNABLES, 120, 0.1)
    with Results(file, spsa, SETUP) as results:

        def on_results(pair):
            results.add(pair)
            if spsa.done == broken_off:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            run_trials(spsa, [_play] * 2, on_results, _nothing)

    again = Spsa(TUNABLES, 120, 0.1)
    with Results(file, again, SETUP) as results:
        assert again.done == broken_off
        run_trials(again, [_play] * 2, results.add, _nothing)
    assert again.theta == unbroken.theta != [5.0, 500.0]
    assert results.counts == all_games.counts
    assert sum(results.counts) == 240


@pytest.fixture
def played(tmp_path):
    """Give the file of a run of four pairs."""
    file = tmp_path / "results.jsonl"
    spsa = Spsa(TUNABLES, 4)
    with Results(file, spsa, SETUP) as results:
        run_trials(spsa, [_play], results.add, _nothing)
    return file


def test_a_duplicated_line_counts_once(played):
    lines = played.read_text().splitlines(keepends=True)
    played.write_text("".join([*lines, lines[2], lines[-1]]))
    spsa = Spsa(TUNABLES, 4)
    with Results(played, spsa, SETUP) as results:
        assert (spsa.done, sum(results.counts)) == (4, 8)


def test_a_missing_line_is_named(played):
    lines = played.read_text().splitlines(keepends=True)
    played.write_text("".join([*lines[:2], *lines[3:]]))
    for _ in range(2):  # the lock is not kept
        with pytest.raises(OptionError, match=r"results\.jsonl lacks pair 2: give another --state$"):
            Results(played, Spsa(TUNABLES, 4), SETUP)


def test_a_journal_with_more_pairs_than_the_run_is_named(played):
    with pytest.raises(OptionError, match=r"results\.jsonl has more than 3 pairs: give another --state$"):
        Results(played, Spsa(TUNABLES, 3), SETUP)
    with Results(played, Spsa(TUNABLES, 4), SETUP):
        pass


@pytest.mark.parametrize(
    "line",
    [
        '{"number": 0, "results": [0, 0]}',
        '{"number": 1}',
        '{"number": 1, "results": 5}',
        '{"number": 1, "results": [0]}',
        '{"number": 1, "results": [0, 2]}',
        '{"number": 1, "results": [0, "a"]}',
        '{"number": 1, "results": [0, [1]]}',
        '{"number": 1, "results": null}',
    ],
)
def test_what_are_no_results_is_named(played, line):
    header, _, *lines = played.read_text().splitlines()
    played.write_text("\n".join([header, line, *lines, ""]))
    with pytest.raises(OptionError, match=r"results\.jsonl, line 2 is damaged"):
        Results(played, Spsa(TUNABLES, 4), SETUP)
