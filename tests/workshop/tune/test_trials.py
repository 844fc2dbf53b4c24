"""Trials of a method: the order of their results, going on from the journal, and what the journal refuses."""

import pickle
import threading
from random import Random

import pytest
from inline_pool import thread_pool

from knightadder.engine.errors import EngineError, OptionError
from knightadder.workshop.match.time_control import Allowance
from knightadder.workshop.opening_book import load_book
from knightadder.workshop.selfplay import StoppedError
from knightadder.workshop.tune.spsa import Spsa, Tunable
from knightadder.workshop.tune.trials import AHEAD, Trial, TrialPlayer, run_trials
from knightadder.workshop.tune.trials_run import kept_results

# SPSA, since its trials depend on the results before them.
TUNABLES = [Tunable("a", 5, 0, 10, 0.5), Tunable("b", 500, 0, 1000, 50.0)]
SETUP = {"nodes": 100}


BOOK = load_book()
ALLOWANCE = Allowance(nodes=20)


def _play(trial):
    """Some results that depend on nothing but the trial."""
    chance = Random(f"{trial.number} {trial.plus}")
    return [chance.choice((-1, 0, 1)) for _ in range(2)]


def _nothing(*_):
    pass


def run_with(method, play=_play, on_results=_nothing, threads=1):
    """Play all trials of a method by a function that gives the results of a trial."""
    with thread_pool(lambda item: bytes(1 + result for result in play(item[0])), threads) as pool:
        for results in run_trials(method, pool, BOOK):
            on_results(results)


# --- playing -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 3])
def test_the_outcome_does_not_depend_on_the_number_of_workers(threads):
    expected, found = Spsa(TUNABLES, 200, 0.1), Spsa(TUNABLES, 200, 0.1)
    while expected.trials:
        expected.answer(_play(expected.trials[0]))
    run_with(found, threads=threads)
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
        return trial.number % 3 - 1, trial.number // 3 - 1

    heard = []
    run_with(spsa, play, lambda results: heard.append((spsa.done, results)), threads=2)
    assert heard == [(number, [number % 3 - 1, number // 3 - 1]) for number in range(1, 9)]
    assert sorted(numbers) == list(range(1, 9))


def test_the_first_trial_may_be_the_last_to_end():
    """No more trials are drawn until it has ended, however many workers there are."""
    spsa, others = Spsa(TUNABLES, AHEAD + 5), threading.Semaphore(0)

    def play(trial):
        if trial.number == 1:
            assert all(others.acquire(timeout=60) for _ in range(AHEAD - 1))
            assert not others.acquire(blocking=False)
        else:
            others.release()
        return 0, 0

    run_with(spsa, play, threads=2)
    assert spsa.done == AHEAD + 5


def test_what_goes_wrong_in_a_game_is_heard_of():
    def play(trial):
        raise ZeroDivisionError

    with pytest.raises(EngineError, match=r"^a worker failed: ZeroDivisionError"):
        run_with(Spsa(TUNABLES, 60), play)


@pytest.mark.parametrize("data", [b"", b"\1", b"\1\3", b"\1\1\1", None, [1, 1]])
def test_damaged_results_are_refused(data):
    with (
        thread_pool(lambda item: data) as pool,
        pytest.raises(EngineError, match=r"^a worker returned damaged results for a trial$"),
    ):
        list(run_trials(Spsa(TUNABLES, 4), pool, BOOK))


def test_a_closed_player_plays_no_more():
    trial = Trial(1, (), (), ())
    for player in (TrialPlayer((), ALLOWANCE, 1), pickle.loads(pickle.dumps(TrialPlayer((), ALLOWANCE, 1)))):
        assert len(TrialPlayer.results(player((trial, BOOK.opening(0))))) == 2
        player.close()
        with pytest.raises(StoppedError):
            player((trial, BOOK.opening(0)))
    unused = TrialPlayer((), ALLOWANCE, 1)
    unused.close()
    with pytest.raises(StoppedError):
        unused((trial, BOOK.opening(0)))


# --- the results ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("broken_off", [1, 9, 10, 57, 119])
def test_going_on_after_ctrl_c_is_the_same_as_an_unbroken_run(tmp_path, broken_off):
    unbroken = Spsa(TUNABLES, 120, 0.1)
    run_with(unbroken)

    file = tmp_path / "results.jsonl"
    spsa = Spsa(TUNABLES, 120, 0.1)
    with kept_results(file, spsa, SETUP) as keep:

        def on_results(pair):
            keep(pair)
            if spsa.done == broken_off:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            run_with(spsa, on_results=on_results, threads=2)

    again = Spsa(TUNABLES, 120, 0.1)
    with kept_results(file, again, SETUP) as keep:
        assert again.done == broken_off
        run_with(again, on_results=keep, threads=2)
    assert again.theta == unbroken.theta != [5.0, 500.0]
    assert again.counts == unbroken.counts
    assert sum(again.counts) == 240


@pytest.fixture
def played(tmp_path):
    """Give the file of a run of four pairs."""
    file = tmp_path / "results.jsonl"
    spsa = Spsa(TUNABLES, 4)
    with kept_results(file, spsa, SETUP) as keep:
        run_with(spsa, on_results=keep)
    return file


def open_results(file):
    with kept_results(file, Spsa(TUNABLES, 4), SETUP):
        pass


def test_a_missing_line_is_named(played):
    lines = played.read_text().splitlines(keepends=True)
    played.write_text("".join([*lines[:2], *lines[3:]]))
    for _ in range(2):  # the lock is not kept
        with pytest.raises(
            OptionError, match=r"results\.jsonl is damaged: pair 2 is missing; give --restart to forget it$"
        ):
            open_results(played)


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
        open_results(played)
