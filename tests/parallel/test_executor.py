"""Pools: each item once, whoever works, whoever is lost; with real processes, and a real cluster of them."""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import threading
from concurrent.futures import Future
from pathlib import Path

import dask
import pytest
from distributed import Client, WorkerPlugin
from executor_tasks import Closable, Deadly, Endless, Faulty, Keeper, Large, Slow, Square
from inline_pool import thread_pool
from local_cluster import commands, local_cluster
from waiting import TIMEOUT, eventually

from knightadder.engine.errors import EngineError, OptionError
from knightadder.extras import install_command
from knightadder.parallel import cluster as dask_cluster
from knightadder.parallel import executor
from knightadder.parallel import pool as pools
from knightadder.parallel.executor import open_pool
from knightadder.parallel.pool import Pool, version


def squares(cluster, processes, count):
    """Square numbers; gives each item's answer, and the calls in each process."""
    found, calls = {}, {}
    with open_pool(Square(), cluster, processes) as pool:
        for item, answer in pool.run(range(count)):
            assert item not in found
            square, process, call = answer.decode().split()
            found[item] = int(square)
            calls.setdefault(process, []).append(int(call))
    return found, calls


# --- processes of this machine -------------------------------------------------------------------------------------


@pytest.mark.parametrize("processes", [1, 2])
def test_every_item_is_done_once(processes):
    found, calls = squares(None, processes, 50)
    assert found == {item: item * item for item in range(50)}
    assert len(calls) <= processes
    assert str(os.getpid()) not in calls
    for numbers in calls.values():  # each process has unpickled the task once
        assert sorted(numbers) == list(range(1, len(numbers) + 1))
    assert multiprocessing.active_children() == []


def test_no_more_items_are_taken_than_needed():
    taken = []
    with open_pool(Square(), None, 1) as pool:
        for done, _ in enumerate(pool.run(item for item in range(20) if not taken.append(item)), 1):
            assert len(taken) <= done + 2
    assert len(taken) == 20


def test_a_process_that_is_killed(tmp_path):
    with (
        open_pool(Deadly(tmp_path), None, 2) as pool,
        pytest.raises(
            EngineError,
            match=r"^a worker process ended unexpectedly, perhaps for lack of memory: try a smaller --concurrency$",
        ),
    ):
        list(pool.run(range(10)))
    assert multiprocessing.active_children() == []


def test_a_run_may_end_while_answers_arrive():
    """A process that ends has perhaps written a part of its answer; nobody waits for the rest."""
    for _ in range(3):
        with open_pool(Large(), None, 2) as pool:
            assert len(next(pool.run(range(100)))[1]) == 1 << 25
    assert multiprocessing.active_children() == []


class Ready(Pool):
    """Has all results at once."""

    def submit(self, item):
        future = Future()
        future.set_result(str(item).encode())
        return future

    def workers(self):
        return 15


def test_results_that_are_there_at_once_come_in_the_order_of_their_items():
    assert [item for item, _ in Ready().run(range(100))] == list(range(100))


def test_what_is_finished_when_a_run_is_interrupted():
    futures = []

    def items():
        yield from (1, 2, 3)
        eventually(lambda: all(future.done() for future in futures))
        raise KeyboardInterrupt

    found = []
    with thread_pool(lambda item: str(item).encode(), 3) as pool, pytest.raises(KeyboardInterrupt):
        submit = pool.submit
        pool.submit = lambda item: futures.append(submit(item)) or futures[-1]
        for item, result in pool.run(items()):
            found.append((item, result))
    assert sorted(found) == [(1, b"1"), (2, b"2"), (3, b"3")]


def numbers(taken):
    """Count for ever, and say what has been taken."""
    while True:
        taken.append(len(taken))
        yield taken[-1]


class Hand(Pool):
    """Two workers whose results the test gives: those that begin last end first."""

    def __init__(self):
        self.futures = {}

    def submit(self, item):
        self.futures[item] = Future()
        return self.futures[item]

    def workers(self):
        return 2

    def end_all(self, *_):
        """Be `wait`."""
        for item, future in reversed(self.futures.items()):
            if not future.done():
                future.set_result(item * item)


def test_results_in_order_and_no_more_is_taken_than_the_workers_need(monkeypatch):
    pool, taken = Hand(), []
    monkeypatch.setattr(pools, "wait", pool.end_all)
    found = pool.run(numbers(taken), in_order=True)
    assert [next(found) for _ in range(20)] == [(number, number * number) for number in range(20)]
    assert len(taken) == 24  # three times what two workers get ahead: none was taken while there was a result


def test_items_that_come_after_results(monkeypatch):
    """An item may depend on the results before it."""
    pool, results, waited = Hand(), [], []

    def items():
        yield from (1, 2)
        while len(results) < 2:
            waited.append(True)
            yield None
        yield sum(results)

    monkeypatch.setattr(pools, "wait", pool.end_all)
    for _, answer in pool.run(items()):
        results.append(answer)
    assert sorted(results) == [1, 4, 25]
    assert waited


def test_an_error_cancels_what_is_not_begun(monkeypatch):
    pool = Hand()
    monkeypatch.setattr(pools, "wait", lambda *_: pool.futures[0].set_exception(OptionError("no")))
    with pytest.raises(OptionError, match=r"^no$"):
        list(pool.run(range(3), in_order=True))
    assert pool.futures[1].cancelled() and pool.futures[2].cancelled()


def test_sigterm_ends_what_runs(tmp_path):
    begun, before = tmp_path / "begun", signal.getsignal(signal.SIGTERM)

    def items():
        yield 1
        eventually(begun.exists)
        signal.raise_signal(signal.SIGTERM)

    with pytest.raises(KeyboardInterrupt), open_pool(Endless(begun), None, 1) as pool:
        list(pool.run(items()))
    assert multiprocessing.active_children() == []
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_process_that_is_stopped_does_not_keep_a_run_from_ending(tmp_path, monkeypatch):
    monkeypatch.setattr(executor, "_END_SECONDS", 0.1)
    begun = tmp_path / "begun"

    def items():
        yield 1
        eventually(begun.exists)
        os.kill(int(begun.read_text()), signal.SIGSTOP)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), open_pool(Endless(begun), None, 1) as pool:
        list(pool.run(items()))
    assert multiprocessing.active_children() == []


def test_processes_end_with_the_one_that_started_them(tmp_path):
    begun = tmp_path / "begun"
    code = f"""
import sys
from pathlib import Path
from executor_tasks import Endless
from knightadder.parallel.executor import open_pool
if __name__ == "__main__":
    with open_pool(Endless(Path({str(begun)!r})), None, 2) as pool:
        list(pool.run(range(9)))
"""
    script = tmp_path / "script.py"
    script.write_text(code)
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
    process = subprocess.Popen(
        [sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
    )
    eventually(begun.exists)
    process.kill()
    process.communicate(timeout=TIMEOUT)  # ends when the last process with this standard output does


@pytest.fixture
def patience(monkeypatch):
    """Let processes close their tasks however busy the machine is."""
    monkeypatch.setattr(executor, "_END_SECONDS", TIMEOUT)


def closed_once(folder):
    """Say how many processes have worked; each of these has closed its task once."""
    worked = {file.name.split()[0] for file in folder.glob("* works")}
    closed = {file.name.split()[0]: file.read_text() for file in folder.glob("* closed")}
    assert closed == dict.fromkeys(worked, "once\n")
    return len(worked)


def test_tasks_are_closed_at_the_end(tmp_path, patience):
    with open_pool(Closable(tmp_path), None, 1) as pool:
        assert len(list(pool.run(range(5)))) == 5
        assert not list(tmp_path.glob("* closed"))
    assert closed_once(tmp_path) == 1


def test_tasks_are_closed_while_they_work(tmp_path, patience):
    def items():
        yield "endless"
        eventually(lambda: list(tmp_path.iterdir()))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), open_pool(Closable(tmp_path), None, 2) as pool:
        list(pool.run(items()))
    assert closed_once(tmp_path) == 1


# --- a cluster -----------------------------------------------------------------------------------------------------


def test_a_cluster_of_this_machine(capfd):
    found, calls = squares("local:1", 0, 5)
    assert found == {item: item * item for item in range(5)}
    assert str(os.getpid()) not in calls and len(calls) == 1
    assert capfd.readouterr() == ("", "")
    assert multiprocessing.active_children() == []


@pytest.fixture(scope="module")
def cluster():
    """A cluster of two processes, which are replaced when they die."""
    with local_cluster() as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    with Client(cluster) as client:
        client.wait_for_workers(2, timeout=TIMEOUT)
        yield client


def test_a_cluster_does_every_item_once(cluster, client, capsys):
    found, calls = squares(cluster.scheduler_address, 0, 30)
    assert found == {item: item * item for item in range(30)}
    assert calls.keys() <= {str(process) for process in client.run(os.getpid).values()}
    for numbers in calls.values():
        assert sorted(numbers) == list(range(1, len(numbers) + 1))
    assert capsys.readouterr().err == ""
    assert logging.root.manager.disable == logging.NOTSET


@pytest.mark.parametrize("on_cluster", [False, True])
def test_what_a_task_raises(cluster, on_cluster):
    with open_pool(Faulty(), cluster.scheduler_address if on_cluster else None, 1) as pool:
        with pytest.raises(OptionError, match=r"^there is no such item$"):
            list(pool.run([3]))
        with pytest.raises(EngineError, match=r"^a worker failed: ZeroDivisionError: \S.*$"):
            list(pool.run([4]))
        with pytest.raises(EngineError, match=r"^a worker failed: FileNotFoundError: no such file$"):
            list(pool.run([5]))


def nothing_kept(folder):
    eventually(lambda: not list(folder.iterdir()))


def test_a_cluster_closes_what_it_keeps_at_the_end(cluster, client, tmp_path):
    def items():
        yield from range(4)
        eventually(lambda: list(tmp_path.iterdir()))
        yield 4
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), open_pool(Keeper(tmp_path), cluster.scheduler_address, 0) as pool:
        list(pool.run(items()))
    nothing_kept(tmp_path)
    assert squares(cluster.scheduler_address, 0, 3)[0] == {0: 0, 1: 1, 2: 4}  # no worker waits for ever


def test_a_cluster_closes_what_a_killed_command_has_left(cluster, client, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(f"""
from pathlib import Path
from executor_tasks import Keeper
from knightadder.parallel.executor import open_pool
with open_pool(Keeper(Path({str(tmp_path / "kept")!r})), {cluster.scheduler_address!r}, 0) as pool:
    list(pool.run(range(1)))
""")
    kept = tmp_path / "kept"
    kept.mkdir()
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
    process = subprocess.Popen([sys.executable, script], env=environment)
    eventually(lambda: list(kept.iterdir()))
    process.kill()
    process.wait()
    nothing_kept(kept)
    eventually(lambda: not any(name.startswith("knightadder") for name in cluster.scheduler.worker_plugins))


def _say_it_is_another(name):
    from knightadder.parallel import pool as pools

    pools.version = lambda: name


def _have_no_knightadder():
    import sys

    sys.modules["knightadder.parallel.pool"] = None


def _have_it_again():
    import sys

    del sys.modules["knightadder.parallel.pool"]


@pytest.fixture(params=["Knightadder 0.0.9-abc", "no such Knightadder"])
def make_other(client, request):
    """Give the function that makes a worker one of another version, or one without this module; gives what it has."""
    changed = []

    def change(address):
        changed.append(address)
        if "abc" in request.param:
            client.run(_say_it_is_another, "0.0.9-abc", workers=[address])
        else:
            client.run(_have_no_knightadder, workers=[address])
        return request.param

    yield change
    if "abc" in request.param:
        client.run(_say_it_is_another, version(), workers=changed)
    else:
        client.run(_have_it_again, workers=changed)


def test_a_worker_of_another_version_is_refused(cluster, client, make_other, capsys, monkeypatch):
    one, other = client.nthreads()
    has = make_other(one)
    found, calls = squares(cluster.scheduler_address, 0, 30)
    assert found == {item: item * item for item in range(30)}
    assert str(client.run(os.getpid)[one]) not in calls
    said = f"knightadder: the worker {one} is not used: it has {has}, but needs Knightadder {version()}\n"
    assert capsys.readouterr().err == said
    # No worker has yet another version.
    wanted, there = "1.2.3-d", version()
    monkeypatch.setattr(dask_cluster, "version", lambda: wanted)
    with pytest.raises(EngineError, match=r"^no worker of the cluster has Knightadder 1\.2\.3-d: install this version"):
        squares(cluster.scheduler_address, 0, 30)
    assert sorted(capsys.readouterr().err.splitlines()) == sorted(
        [
            f"knightadder: the worker {one} is not used: it has {has}, but needs Knightadder {wanted}",
            f"knightadder: the worker {other} is not used: it has Knightadder {there}, but needs Knightadder {wanted}",
        ]
    )


class Other(WorkerPlugin):
    """Makes workers that come later another version."""

    def __init__(self, known):
        self.known = known

    def setup(self, worker):
        if worker.address not in self.known:
            _say_it_is_another("0.0.9-abc")


def test_a_worker_of_another_version_comes_in_the_middle_of_a_run(cluster, client, monkeypatch):
    known = set(client.nthreads())
    client.register_plugin(Other(known), name="other")
    killed = client.run(os.getpid)[min(known)]
    taken, said = [], []
    monkeypatch.setattr(dask_cluster, "tell", said.append)

    def items():
        yield 0
        os.kill(killed, signal.SIGKILL)
        eventually(lambda: len(client.nthreads()) == 2 and not known.issuperset(client.nthreads()))
        for number in numbers(taken):
            yield number
            if said:
                return

    try:
        with open_pool(Slow(), cluster.scheduler_address, 0) as pool:
            assert sorted(item for item, _ in pool.run(items()))[1:] == taken
        (other,) = client.nthreads().keys() - known
        what = "is not used: it has Knightadder 0.0.9-abc, but needs Knightadder"
        assert said == [f"the worker {other} {what} {version()}"]
    finally:
        client.unregister_worker_plugin("other")
        client.run(_say_it_is_another, version())


def test_tasks_of_workers_that_die_are_done_by_others(cluster, client, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 0)  # after so many, Dask gives up, and we do not
    with open_pool(Deadly(tmp_path), cluster.scheduler_address, 0) as pool:
        # The item that is done again comes in its place.
        assert list(pool.run(range(8), in_order=True)) == [(item, str(item).encode()) for item in range(8)]
    assert len(list(tmp_path.iterdir())) == 1


def test_a_task_that_kills_its_workers_is_given_up(cluster, client, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 0)
    monkeypatch.setattr(dask_cluster, "_MOST_DEATHS", 1)
    with (
        open_pool(Deadly(tmp_path), cluster.scheduler_address, 0) as pool,
        pytest.raises(
            EngineError,
            match=r"^a task was given up, because each worker that ran it ended: see the logs of the workers$",
        ),
    ):
        list(pool.run([-1]))


def test_a_scheduler_that_is_lost(tmp_path, capsys):
    with commands(tmp_path) as cluster:
        cluster.start(worker=False)
        with open_pool(Square(), str(cluster.file), 0) as pool:

            def items():
                yield 1
                cluster.lose_scheduler()

            with pytest.raises(
                EngineError,
                match=r"^the connection to the cluster's scheduler was lost: check that the scheduler is running$",
            ):
                list(pool.run(items()))
    assert capsys.readouterr().err == "knightadder: the cluster has no workers: waiting for one\n"


# --- what is wrong at once -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("local:", "--cluster local:: expected a number of processes, such as local:4"),
        ("local:0", "--cluster local:0: expected a number of processes, such as local:4"),
        (f"local:{'9' * 5000}", "--cluster local:99"),
        ("config", "--cluster config: Dask's configuration has no scheduler-address"),
        ("nowhere", "--cluster nowhere: there is no such file, and it is not an address (tcp://HOST:PORT)"),
        ("tls://127.0.0.1:1", "cannot connect to the cluster tls://127.0.0.1:1: TLS expects"),  # without a certificate
    ],
)
def test_bad_addresses(address, message):
    with pytest.raises(OptionError) as caught, open_pool(Square(), address, 0):
        pass
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("content", ["{}", "[]", '{"address": null}', '{"moves": 7}'])
def test_a_file_of_something_else_is_refused_at_once(tmp_path, monkeypatch, content):
    monkeypatch.setattr("distributed.utils.sleep", lambda seconds: pytest.fail("waits"))
    file = tmp_path / "scheduler.json"
    file.write_text(content)
    with pytest.raises(OptionError) as caught, open_pool(Square(), str(file), 0):
        pass
    assert str(caught.value) == f"--cluster {file}: the file contains no scheduler address"
    assert "\n" not in str(caught.value)


def test_the_address_in_the_configuration(cluster):
    with dask.config.set({"scheduler-address": cluster.scheduler_address}):
        assert squares("config", 0, 3)[0] == {0: 0, 1: 1, 2: 4}


def test_a_scheduler_that_still_writes_its_file(cluster, tmp_path):
    """A scheduler on a busy machine may take a while between opening its file and writing it."""
    file = tmp_path / "scheduler.json"
    file.touch()
    write = threading.Timer(0.5, file.write_text, [json.dumps({"address": cluster.scheduler_address})])
    write.start()
    assert squares(str(file), 0, 3)[0] == {0: 0, 1: 1, 2: 4}
    write.join()


def test_dask_is_asked_for(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "knightadder.parallel.cluster")
    with (
        pytest.raises(OptionError, match=f"^--cluster needs Dask: {re.escape(install_command('cluster'))}$"),
        open_pool(Square(), "local:1", 0),
    ):
        pass
