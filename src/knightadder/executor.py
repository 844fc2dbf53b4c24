"""Runs tasks: in processes of this machine, or with ``--cluster`` in those of many machines, which Dask connects.

A task is an object that can be pickled, and that maps an item (a number, say) to a result. Each thread that works
unpickles it once, so the task can keep what it loads; if it has a method `close`, this is called at the end of the run,
from another thread, also while the task works. A closed task is not called again. A result depends only on the task and
the item, so it does not matter who computes it, and how often it was begun before.
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
import warnings
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar
from uuid import uuid4

from knightadder import __version__
from knightadder.engine.errors import EngineError, OptionError
from knightadder.extras import needed_by
from knightadder.foreign import whole_or_none
from knightadder.runs import source_digest

if TYPE_CHECKING:
    import distributed

Item = TypeVar("Item")
Task: TypeAlias = Callable[[Any], bytes]

_POLL_SECONDS = 0.5  # between looks at what has changed; Ctrl-C does not end a longer wait on every system
_COUNT_SECONDS = 2.0  # between questions for the number of a cluster's workers
_AHEAD = 2  # tasks handed out for each that can run, so that no worker waits for the next one
_IDLE_SECONDS = 60.0  # after which a worker closes a task that is no longer called: its command may have been killed
_CONNECTIONS = 10  # that are tried one after the other
_GETTERS = 32  # threads that get results from workers
_MOST_DEATHS = 10  # of four workers each (Dask's allowed-failures), after which a task is taken to be the cause

# What is sent to a worker: text, since Dask loses a worker that cannot unpickle a function, as one without this module.
_MODULE = "__import__('importlib').import_module('knightadder.executor')"
_VERSION = f"{_MODULE}.version()"
_WORK = f"{_MODULE}._work(wanted, run, pickled, item)"
_END = f"{_MODULE}._end(run)"

# For `local:4`: a worker that was lost is replaced, even if that takes long; no worker is profiled, which costs time.
_LOCAL = {"distributed.deploy.lost-worker-timeout": "1 day", "distributed.worker.profile.enabled": False}

# How long Dask tries to reach a process. While a busy machine starts them this may take long; later it only keeps
# others waiting for a worker that is lost.
_CONNECT = "distributed.comm.timeouts.connect"
_START = "10 minutes"

# What the workers of `local:4` run first, also those that replace lost ones: this process ends them at Ctrl-C.
_PRELOAD = "import logging, signal\nlogging.disable(), signal.signal(signal.SIGINT, signal.SIG_IGN)\n"


def add_cluster(command: argparse._ActionsContainer) -> None:
    """Declare the argument ``--cluster``."""
    command.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="do the work on a Dask cluster: address of its scheduler, such as tcp://host:8786, or name of its "
        "scheduler file; config: the address in Dask's configuration; local:4: four processes of this machine",
    )


@contextlib.contextmanager
def open_pool(task: Task, cluster: str | None, processes: int) -> Iterator[Pool]:
    """Open a pool for a ``with`` block; SIGTERM then has the effect of Ctrl-C.

    Parameters
    ----------
    task : callable
        The task; its result must be bytes.
    cluster : str or None
        The argument ``--cluster``.
    processes : int
        Number of processes without a cluster.

    Raises
    ------
    OptionError
        If Dask is not installed, or there is no such cluster.
    """
    pickled = pickle.dumps(task)
    with contextlib.ExitStack() as stack:
        stack.enter_context(_handling(signal.SIGTERM, _interrupt))
        if cluster:
            pool = stack.enter_context(_cluster(pickled, cluster))
            if hasattr(task, "close"):
                stack.callback(pool.close_tasks)
            yield pool
        else:
            yield stack.enter_context(_processes(pickled, processes))


@contextlib.contextmanager
def _handling(number: int, handler: Callable[[int, FrameType | None], Any] | signal.Handlers) -> Iterator[None]:
    """Handle a signal so in a ``with`` block, in the main thread; no other thread can."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, before)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


class Pool(ABC):
    """Workers that run a task."""

    def __init__(self) -> None:
        self._running: dict[Future[bytes], Any] = {}

    def run(self, items: Iterable[Item | None]) -> Generator[tuple[Item, bytes], None, None]:
        """Run the task on items, some of them at once, and yield each item with its result when it is there.

        Parameters
        ----------
        items : iterable
            Must be hashable; the next one is taken when there is a worker for it. None means that there is none until
            another result has been yielded.

        Raises
        ------
        EngineError
            What the task raises, or if there are no longer workers to run it.
        """
        remaining, again = iter(items), deque[Item]()
        running: dict[Future[bytes], Item] = {}
        self._running = running
        while True:
            while len(running) < self.room():
                if again:
                    item = again.popleft()
                else:
                    following = next(remaining, None)
                    if following is None:
                        break
                    item = following
                running[self.submit(item)] = item
            if not running:
                return
            ready = wait(running, _POLL_SECONDS, FIRST_COMPLETED).done
            done = [each for each in running if each in ready]  # in the order of the items
            for future in sorted(done, key=lambda each: each.exception() is not None):  # results before errors
                item = running.pop(future)
                try:
                    result = future.result()
                except Exception as error:
                    self.check_lost(item, error)
                    again.append(item)
                else:
                    yield item, result

    def finished(self) -> Iterator[tuple[Any, bytes]]:
        """Yield the items with results that `run` has not yielded because it was broken off, as by Ctrl-C."""
        for future, item in self._running.items():
            if future.done() and not future.cancelled() and not future.exception():
                yield item, future.result()

    @abstractmethod
    def submit(self, item: Any) -> Future[bytes]:
        """Hand out the task for an item."""

    @abstractmethod
    def room(self) -> int:
        """Return how many tasks should be handed out at once."""

    @abstractmethod
    def check_lost(self, item: Any, error: BaseException) -> None:
        """Raise an EngineError, unless an error says only that a worker was lost: then the task has to run again."""

    def place(self) -> str:
        """Return where the tasks run, for the display of progress."""
        return ""


# --- what runs on a worker -----------------------------------------------------------------------------------------


class _Kept:
    """The task of a run that a thread keeps."""

    def __init__(self, run: str, pickled: bytes) -> None:
        self.run = run
        self.task: Task = pickle.loads(pickled)
        self._close: Callable[[], None] | None = getattr(self.task, "close", None)
        self._closing = threading.Lock()
        self._timer: threading.Timer | None = None

    def close(self) -> None:
        """Close the task, once."""
        with self._closing:
            close, self._close = self._close, None
        if close:
            close()

    def wait(self, then: Callable[[], None]) -> None:
        """Call a function after a while, unless `cancel` is called before."""
        if self._close:
            self._timer = threading.Timer(_IDLE_SECONDS, then)
            self._timer.daemon = True
            self._timer.start()

    def cancel(self) -> None:
        if self._timer:
            self._timer.cancel()


# By thread. Who takes a task out of `_idle` may call or close it, and no other thread can take it.
_idle: dict[int, _Kept] = {}
_busy: dict[int, _Kept] = {}
_ended: set[str] = set()  # runs


class WrongVersion(Exception):
    """The worker has another version."""


@cache
def version() -> str:
    """Return the package's version and a digest of its sources and networks, which must be the same on all machines."""
    return f"{__version__}-{source_digest(folders=('',), suffixes=('.py', '.json', '.nnue'))}"


def _work(wanted: str, run: str, pickled: bytes, item: Any) -> bytes:
    """Run a task in a worker of a cluster; raises `WrongVersion` if that has another version."""
    if version() != wanted:
        raise WrongVersion
    return _run(run, pickled, item)


def _run(run: str, pickled: bytes, item: Any) -> bytes:
    """Call the task of a run, which this thread then keeps."""
    thread = threading.get_ident()
    kept = _idle.pop(thread, None)
    if kept:
        kept.cancel()
        if kept.run != run:
            kept.close()
    if kept is None or kept.run != run:
        kept = _Kept(run, pickled)
    _busy[thread] = kept
    try:
        if run in _ended:  # looked at after the task is there for `_end`
            raise EngineError("the run has ended")
        return kept.task(item)
    finally:
        _idle[thread] = _busy.pop(thread)
        if run in _ended:
            _close_idle(thread)
        else:
            kept.wait(lambda: _close_idle(thread))


def _end(run: str) -> None:
    """Close the tasks of a run, and call none of them any more."""
    _ended.add(run)
    for kept in list(_busy.values()):
        if kept.run == run:
            kept.close()
    for thread, kept in list(_idle.items()):
        if kept.run == run:
            _close_idle(thread)


def _close_idle(thread: int) -> None:
    kept = _idle.pop(thread, None)
    if kept:
        kept.close()


def _failure(error: BaseException) -> EngineError:
    """Return the error that a task ended with, in one line."""
    if isinstance(error, EngineError):
        return error
    return EngineError(f"a worker failed: {type(error).__name__}: {error}")


# --- processes of this machine -------------------------------------------------------------------------------------


@contextlib.contextmanager
def _processes(pickled: bytes, count: int) -> Iterator[Pool]:
    context = multiprocessing.get_context("spawn")
    theirs, ours = context.Pipe(duplex=False)
    executor = ProcessPoolExecutor(count, context, _begin, (theirs, pickled))
    try:
        yield _Processes(executor, count)
    finally:
        ours.close()  # ends the processes, also what they are working on
        executor.shutdown(cancel_futures=True)
        theirs.close()


class _Processes(Pool):
    def __init__(self, executor: Executor, count: int) -> None:
        super().__init__()
        self._executor, self._count = executor, count

    def submit(self, item: Any) -> Future[bytes]:
        with _handling(signal.SIGINT, signal.SIG_IGN):  # by a process that this starts: it is ended by this one
            return self._executor.submit(_work_here, item)

    def room(self) -> int:
        return _AHEAD * self._count

    def check_lost(self, item: Any, error: BaseException) -> None:
        from concurrent.futures.process import BrokenProcessPool

        if isinstance(error, BrokenProcessPool):
            raise EngineError("a process of this run has ended unexpectedly") from None
        raise _failure(error) from None


_pickled = b""  # the task of this process


def _begin(parent: Connection, pickled: bytes) -> None:
    """Set up a process, which ends when the process that started it closes the connection or ends itself."""
    global _pickled
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _pickled = pickled

    def end() -> None:
        with contextlib.suppress(EOFError, OSError):
            parent.recv_bytes()
        try:
            _end("")
        finally:
            os._exit(1)

    threading.Thread(target=end).start()  # not a daemon: a process that the executor ends waits for this


def _work_here(item: Any) -> bytes:
    return _run("", _pickled, item)


# --- many machines -------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _cluster(pickled: bytes, address: str) -> Iterator[_Cluster]:
    with contextlib.ExitStack() as stack:
        stack.callback(logging.disable, logging.root.manager.disable)
        logging.disable()  # Dask's log; this module says what matters
        target: dict[str, Any] = {"address": address}
        try:
            with needed_by("--cluster", "cluster"):
                if address.startswith("local:"):
                    target = {"address": stack.enter_context(_local(_count(address))), "timeout": _START}
                elif address == "config":
                    target["address"] = _configured()
                elif Path(address).is_file():
                    target = {"scheduler_file": address}
                client = stack.enter_context(_connected(target))
        except OptionError:
            raise
        except Exception as error:  # of many kinds: no such host, no certificate, a worker that does not start
            reason = str(error).strip() or type(error).__name__
            raise OptionError(f"cannot connect to the cluster {address}: {reason}") from None
        pool = _Cluster(client, pickled)
        stack.callback(pool.end)
        yield pool


@contextlib.contextmanager
def _local(count: int) -> Iterator[distributed.LocalCluster]:
    """Start a cluster of this machine's processes."""
    import dask
    import distributed

    with dask.config.set(_LOCAL):
        later = {_CONNECT: dask.config.get(_CONNECT)}
        with _handling(signal.SIGINT, signal.SIG_IGN), dask.config.set({_CONNECT: _START}):
            cluster = distributed.LocalCluster(
                n_workers=count,
                threads_per_worker=1,
                memory_limit=0,
                dashboard_address=":0",
                silence_logs=logging.CRITICAL,
                preload=[_PRELOAD],
                config=later,
            )
        with cluster:
            yield cluster


def _connected(target: dict[str, Any]) -> distributed.Client:
    """Connect to a scheduler."""
    for _ in range(_CONNECTIONS - 1):
        # While another client leaves, the scheduler may tell a new one more than it expects (distributed 2026.8).
        with contextlib.suppress(AssertionError):
            return _connected_at_once(target)
    return _connected_at_once(target)


def _connected_at_once(target: dict[str, Any]) -> distributed.Client:
    import distributed

    client = distributed.Client.__new__(distributed.Client)  # so that it can be closed if it cannot connect
    try:
        client.__init__(**target)  # type: ignore[misc]
    except BaseException:
        # The garbage collector would close it, too, but perhaps while another one starts: then both wait for ever.
        with contextlib.suppress(Exception):  # it may be incomplete
            client.close()
        raise
    return client


def _count(address: str) -> int:
    """Return the number of processes in ``local:4``."""
    count = whole_or_none(address.partition(":")[2])
    if not count:
        raise OptionError(f"--cluster {address}: expected a number of processes, such as local:4")
    return count


def _configured() -> str:
    """Return the address of the scheduler in Dask's configuration."""
    import dask

    address: str | None = dask.config.get("scheduler-address", None)
    if address is None:
        raise OptionError("--cluster config: Dask's configuration has no scheduler-address")
    return address


class _Cluster(Pool):
    def __init__(self, client: distributed.Client, pickled: bytes) -> None:
        super().__init__()
        self._client = client
        self._run = uuid4().hex
        self._getters = ThreadPoolExecutor(_GETTERS)
        self._where: dict[str, Any] = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a large book of openings is meant to be sent, and is sent only once
            # As a task of its own it is sent to each worker once, and computed again if all that have it are lost.
            self._pickled = client.submit(bytes, pickled, pure=False)
        self._deaths: Counter[Any] = Counter()
        self._refused: set[str] = set()
        self._workers: dict[str, int] = {}
        self._counted = -_COUNT_SECONDS
        self._waiting = False

    def submit(self, item: Any) -> Future[bytes]:
        # Not by `Client.get_executor`: its futures never end if a result is lost on the way (distributed 2026.8).
        future: Future[bytes] = Future()

        def deliver(done: distributed.Future[bytes]) -> None:
            try:
                future.set_result(done.result())
            except BaseException as error:
                # Only the scheduler gives results; an OSError can also be what the task raised.
                gone = isinstance(error, OSError) and done.status != "error"
                future.set_exception(_lost() if gone else error)

        names = {"wanted": version(), "run": self._run, "pickled": self._pickled, "item": item}
        there = self._client.submit(eval, _WORK, names, key=f"knightadder-{uuid4().hex}", **self._where)
        # Dask's own thread for this would get one result after the other. It gets together what is asked for at once.
        there.add_done_callback(lambda done: self._getters.submit(deliver, done))
        return future

    def room(self) -> int:
        if self._client.status != "running":
            raise _lost()
        if time.monotonic() - self._counted >= _COUNT_SECONDS:
            self._count_workers()
            if not self._workers and not self._waiting:
                print("The cluster has no workers: waiting for one", file=sys.stderr)
            self._waiting = not self._workers
        return _AHEAD * max(sum(self._workers.values()), 1)

    def place(self) -> str:
        machines = {address.rpartition(":")[0] for address in self._workers}
        return f"{len(machines)} machine{'' if len(machines) == 1 else 's'}, {len(self._workers)} workers"

    def check_lost(self, item: Any, error: BaseException) -> None:
        from distributed import KilledWorker

        if isinstance(error, WrongVersion | ImportError):
            self._workers = {}  # ask all of them again
            self._count_workers()
            self._deaths[item] += 1  # not without end: a worker of the right version may lack something else
            if not self._refused or self._deaths[item] == _MOST_DEATHS:
                raise _failure(error) from None
        elif isinstance(error, KilledWorker):
            self._deaths[item] += 1
            if self._deaths[item] == _MOST_DEATHS:
                raise EngineError("a task was given up because all workers that ran it died") from None
        elif isinstance(error, CancelledError):
            raise _lost() from None
        else:
            raise _failure(error) from None

    def end(self) -> None:
        """Let the threads of this pool end when they are done."""
        self._getters.shutdown(wait=False, cancel_futures=True)

    def close_tasks(self) -> None:
        """Let all workers close the task."""
        if self._client.status != "running":
            return  # the scheduler is lost
        with contextlib.suppress(OSError):
            self._client.run(eval, _END, {"run": self._run}, on_error="ignore")

    def _count_workers(self) -> None:
        """Learn which workers there are, and refuse those of another version."""
        try:
            workers = self._client.nthreads()
            new = list(workers.keys() - self._workers.keys() - self._refused)
            versions = self._client.run(eval, _VERSION, workers=new, on_error="return") if new else {}
        except OSError:
            raise _lost() from None
        for address, found in versions.items():
            if isinstance(found, str | ImportError) and found != version():
                self._refused.add(address)
                has = f"Knightadder {found}" if isinstance(found, str) else "no such Knightadder"
                print(f"{address} is not used: it has {has}, and needs {version()}", file=sys.stderr)
        self._workers = {address: threads for address, threads in workers.items() if address not in self._refused}
        self._counted = time.monotonic()
        if workers and not self._workers:
            raise EngineError(f"the cluster has no worker with Knightadder {version()}")
        if self._refused:  # others may be used as well: those that come later, if all these are lost
            self._where = {"workers": list(self._workers), "allow_other_workers": True}


def _lost() -> EngineError:
    return EngineError("the cluster's scheduler is lost")
