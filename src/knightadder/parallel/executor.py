"""Opens pools: processes of this machine, or with ``--cluster``, processes of many machines that Dask connects."""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from queue import SimpleQueue
from typing import Any, Self

from knightadder.arguments import declare
from knightadder.engine.errors import EngineError
from knightadder.extras import needed_by
from knightadder.parallel.pool import Pool, Tasks, failure
from knightadder.signals import handling, terminating_interrupts

_END_SECONDS = 10.0  # seconds in which a process must end before it is killed


def add_workers(command: argparse._ActionsContainer, **concurrency: Any) -> None:
    """Declare ``--concurrency``, with some changes, and ``--cluster``, which say where a command's tasks run."""
    where = command.add_mutually_exclusive_group()
    declare(where, "--concurrency", **concurrency)
    where.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="do the work on a Dask cluster: ADDRESS is the scheduler's address (tcp://host:8786), a scheduler "
        "file, config (for the address in Dask's configuration), or local:4 (for four processes on this "
        "machine)",
    )


@contextlib.contextmanager
def open_pool(
    task: Callable[[Any], bytes], cluster: str | None, processes: int, *, core: bool = False
) -> Iterator[Pool]:
    """Open a pool for a ``with`` block: on `cluster`, or if that is None, with `processes` processes of this machine.
    `core` says whether the task runs the core; if its sources have changed, it is compiled before the processes start.
    In the block, SIGTERM has the effect of Ctrl-C. OptionError if Dask is not installed, or there is no such cluster.
    """
    pickled = pickle.dumps(task)
    with terminating_interrupts():
        if cluster is None:
            if core:
                from knightadder.engine.loader import compile_core

                compile_core()
            with _Processes(pickled, processes) as pool:
                yield pool
        else:
            with needed_by("--cluster", "cluster"):
                from knightadder.parallel.cluster import connected
            with connected(pickled, cluster) as pool:
                yield pool


# --- processes of this machine -------------------------------------------------------------------------------------


class _Processes(Pool):
    """Processes, and for each process a thread that waits for its answers.

    Each process has a separate pipe. So if a process is killed while it writes an answer, reading the answer raises an
    error. Python's own executor has one pipe for all processes, and would wait forever for the rest of the answer.
    """

    def __init__(self, pickled: bytes, count: int) -> None:
        self._pickled, self._count = pickled, count
        self._context = multiprocessing.get_context("spawn")
        # This pipe carries no data; when it closes, the processes end.
        self._theirs, self._ours = self._context.Pipe(duplex=False)
        self._started: list[tuple[SpawnProcess, Connection]] = []
        self._free: SimpleQueue[Connection] = SimpleQueue()
        self._threads = ThreadPoolExecutor(count)

    def submit(self, item: Any) -> Future[Any]:
        if len(self._started) < self._count:
            self._start()
        return self._threads.submit(self._ask, item)

    def _start(self) -> None:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_work, args=(self._theirs, theirs, self._pickled))
        with handling(signal.SIGINT, signal.SIG_IGN):  # inherited by the new process; this process will terminate it
            process.start()
        theirs.close()
        self._started.append((process, ours))
        self._free.put(ours)

    def _ask(self, item: Any) -> Any:
        connection = self._free.get()
        try:
            connection.send(item)
            result, error = connection.recv()
        except (EOFError, OSError):
            raise EngineError(
                "a worker process ended unexpectedly, perhaps for lack of memory: try a smaller --concurrency"
            ) from None
        finally:
            self._free.put(connection)
        if error:
            raise error
        return result

    def workers(self) -> int:
        return self._count

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._ours.close()  # ends the processes, even during work
        self._threads.shutdown(wait=False, cancel_futures=True)
        try:
            for process, _connection in self._started:
                process.join(_END_SECONDS)
        finally:  # even at a second Ctrl-C
            for process, _connection in self._started:
                process.kill()  # because it is stopped, or hangs
            self._threads.shutdown()
            for process, connection in self._started:
                process.join()
                connection.close()
            self._theirs.close()


def _work(parent: Connection, connection: Connection, pickled: bytes) -> None:
    """Run in a separate process: answer items until the parent process closes `parent` or ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tasks = Tasks(pickled)

    def end() -> None:
        with contextlib.suppress(EOFError, OSError):
            parent.recv_bytes()
        try:
            tasks.end()
        finally:
            os._exit(1)

    threading.Thread(target=end).start()
    answer: tuple[Any, EngineError | None]
    with contextlib.suppress(EOFError, OSError):  # the other end is closed, and so is `parent`
        while True:
            item = connection.recv()
            try:
                answer = tasks.call(item), None
            except Exception as error:
                answer = None, failure(error)
            connection.send(answer)
