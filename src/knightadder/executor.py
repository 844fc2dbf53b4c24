"""Opens pools: processes of this machine, or with ``--cluster`` those of many machines, which Dask connects."""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import Connection
from types import FrameType
from typing import Any

from knightadder.engine.errors import EngineError
from knightadder.extras import needed_by
from knightadder.pool import Pool, Tasks, failure


def add_cluster(command: argparse._ActionsContainer) -> None:
    """Declare the argument ``--cluster``."""
    command.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="do the work on a Dask cluster: address of its scheduler, such as tcp://host:8786, or name of its "
        "scheduler file; config: the address in Dask's configuration; local:4: four processes of this machine",
    )


@contextlib.contextmanager
def open_pool(task: Callable[[Any], bytes], cluster: str | None, processes: int) -> Iterator[Pool]:
    """Open a pool for a ``with`` block; SIGTERM then has the effect of Ctrl-C.

    Parameters
    ----------
    task : callable
        The task.
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
    with _handling(signal.SIGTERM, _interrupt):
        if cluster is None:
            with _processes(pickled, processes) as pool:
                yield pool
        else:
            with needed_by("--cluster", "cluster"):
                from knightadder.cluster import connected
            with connected(pickled, cluster) as pool:
                yield pool


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
    def __init__(self, executor: ProcessPoolExecutor, count: int) -> None:
        self._executor, self._count = executor, count

    def submit(self, item: Any) -> Future[Any]:
        with _handling(signal.SIGINT, signal.SIG_IGN):  # by a process that this starts: it is ended by this one
            return self._executor.submit(_call, item)

    def workers(self) -> int:
        return self._count

    def check_lost(self, number: int, error: Exception) -> None:
        if isinstance(error, BrokenProcessPool):
            raise EngineError("a process of this run has ended unexpectedly") from None
        raise failure(error) from None


_tasks = Tasks(b"")  # of this process


def _begin(parent: Connection, pickled: bytes) -> None:
    """Set up a process, which ends when the process that started it closes the connection or ends itself."""
    global _tasks
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _tasks = Tasks(pickled)

    def end() -> None:
        with contextlib.suppress(EOFError, OSError):
            parent.recv_bytes()
        try:
            _tasks.end()
        finally:
            os._exit(1)

    threading.Thread(target=end).start()  # not a daemon: a process that the executor ends waits for this


def _call(item: Any) -> Any:
    return _tasks.call(item)
