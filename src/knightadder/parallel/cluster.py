"""Workers of a Dask cluster, as a pool."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import pickle
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from pathlib import Path
from typing import Any
from uuid import uuid4

import dask
from distributed import Client, KilledWorker, LocalCluster, Scheduler, SchedulerPlugin, Worker, WorkerPlugin, get_worker
from distributed.utils import json_load_robust, silence_logging_cmgr

from knightadder.engine.errors import EngineError, OptionError
from knightadder.foreign import whole_or_none
from knightadder.parallel.pool import Pool, failure, version
from knightadder.text import counted, tell

_FILE_SECONDS = 10.0  # seconds in which a starting scheduler must have written its file
_LOOK_SECONDS = 2.0  # seconds between queries of a cluster's workers
_MOST_DEATHS = 10  # number of times that a task is submitted again; each time, four workers have died of it

# For `local:4`: lost workers are replaced, even if this takes long; workers are not profiled, because this costs time.
_LOCAL = {
    "distributed.deploy.lost-worker-timeout": "1 day",
    "distributed.worker.profile.enabled": False,
}
_LOGGERS = ("distributed", "distributed.client", "tornado", "tornado.application")


@contextlib.contextmanager
def connected(pickled: bytes, address: str) -> Iterator[Pool]:
    """Connect to a cluster for a ``with`` block, see `knightadder.parallel.executor.open_pool`."""
    with contextlib.ExitStack() as stack:
        try:
            for name in _LOGGERS:  # this module reports important events itself
                stack.enter_context(silence_logging_cmgr(logging.CRITICAL, name))
            target = address
            if address.startswith("local:"):
                target = stack.enter_context(_local(address))
            elif address == "config":
                target = dask.config.get("scheduler-address", None)
                if target is None:
                    raise OptionError("--cluster config: Dask's configuration has no scheduler-address")
            elif Path(address).is_file():  # read here, because a client waits only 0.1 s for a complete file
                target = _address_in(address)
            elif ":" not in address:  # Dask would complain about a missing port
                raise OptionError(
                    f"--cluster {address}: there is no such file, and it is not an address (tcp://HOST:PORT)"
                )
            client = _CarefulClient(target)  # type: ignore[no-untyped-call]
            pool = stack.enter_context(workers_of(stack.enter_context(client), pickled))
        except EngineError:
            raise
        except Exception as error:  # many kinds: an unknown host, a missing certificate, a worker that does not start
            reason = str(error).strip() or type(error).__name__
            raise OptionError(f"cannot connect to the cluster {address}: {reason}") from None
        yield pool


def _address_in(file: str) -> str:
    """Return the address in a scheduler's file; wait while the scheduler writes the file."""
    # In a list, because Dask waits for a value that is not empty.
    [value] = json_load_robust(file, load=lambda stream: [json.load(stream)], timeout=_FILE_SECONDS)
    if not (isinstance(value, dict) and isinstance(address := value.get("address"), str)):
        raise OptionError(f"--cluster {file}: the file contains no scheduler address")
    return address


class _CarefulClient(Client):
    """A client that is closed if it cannot connect. Otherwise the garbage collector waits for it."""

    def start(self, **options: Any) -> None:
        try:
            super().start(**options)  # type: ignore[no-untyped-call]
        except BaseException:
            with contextlib.suppress(Exception):  # the client may be incomplete
                self.close()  # type: ignore[no-untyped-call]
            raise


@contextlib.contextmanager
def _local(address: str) -> Iterator[str]:
    """Start a cluster of this machine's processes, and yield the address of its scheduler."""
    count = whole_or_none(address.partition(":")[2])
    if not count:
        raise OptionError(f"--cluster {address}: expected a number of processes, such as local:4")
    with (
        dask.config.set(_LOCAL),
        LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            memory_limit=0,
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
            preload=[__name__],
        ) as cluster,
    ):
        yield cluster.scheduler_address


def dask_setup(worker: Worker) -> None:
    """Set up a process of a local cluster; Dask calls this function of a preloaded module."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # because the parent process terminates this process


@contextlib.contextmanager
def workers_of(client: Client, pickled: bytes) -> Iterator[Pool]:
    """Let the workers of a cluster, also later ones, run a task in a block; EngineError if the cluster is lost."""
    if client.status == "closed":
        raise EngineError("the client of the cluster has been closed")
    name = f"knightadder-{uuid4().hex}"
    keeper, remover, call = _remote(name, version(), pickled, client.id)
    try:
        with contextlib.suppress(OSError):  # a worker was just lost; `call` reports a different version
            client.register_plugin(remover, name=name)
            client.register_plugin(keeper, name=name)
        yield _Cluster(client, call)
    finally:
        if client.status == "running":  # otherwise the scheduler is lost
            with contextlib.suppress(OSError):
                client.unregister_worker_plugin(name)
                client.unregister_scheduler_plugin(name)


def _remote(
    name: str, wanted: str, pickled: bytes, owner: str
) -> tuple[WorkerPlugin, SchedulerPlugin, Callable[[bytes], Any]]:
    """Return the plugin that keeps a task on each worker, the one that removes it when its client is gone, and the
    caller. They are defined in here, so that Dask sends their code: a worker without Knightadder can load them, and
    report that.
    """

    class TaskKeeper(WorkerPlugin):
        found, tasks = "no such Knightadder", None

        def setup(self, worker: Worker) -> None:
            with contextlib.suppress(ImportError):
                from knightadder.parallel.pool import Tasks, version

                self.found = f"Knightadder {version()}"
                if version() == wanted:
                    self.tasks = Tasks(pickled)

        def teardown(self, worker: Worker) -> Any:
            return asyncio.to_thread(self.tasks.end) if self.tasks else None

    class Remover(SchedulerPlugin):
        def remove_client(self, scheduler: Scheduler, client: str) -> None:
            if client == owner and name in scheduler.worker_plugins:
                scheduler.loop.add_callback(scheduler.unregister_worker_plugin, None, name)

    def call(item: bytes) -> tuple[bool, Any]:
        worker = get_worker()
        keeper: Any = worker.plugins.get(name)
        if keeper is None or keeper.tasks is None:
            return False, (worker.address, keeper.found if keeper else "lost the task")
        return True, keeper.tasks.call(pickle.loads(item))

    return TaskKeeper(), Remover(), call


class _Cluster(Pool):
    def __init__(self, client: Client, call: Callable[[bytes], Any]) -> None:
        self._client, self._call = client, call
        self._refused: set[str] = set()  # addresses of workers with a different version
        self._workers: dict[str, int] = {}
        self._looked = -_LOOK_SECONDS
        self._waiting = False

    def submit(self, item: Any) -> Future[Any]:
        # `Client.get_executor` is not used: its futures never finish if a result is lost in transfer (distributed
        # 2026.8).
        loop: Any = self._client.loop
        return asyncio.run_coroutine_threadsafe(self._result(pickle.dumps(item)), loop.asyncio_loop)

    async def _result(self, item: bytes) -> Any:
        """Run the task for an item, and repeat it if a worker dies of it or refuses it."""
        deaths = 0
        while deaths < _MOST_DEATHS:
            self._must_be_connected()
            where = {"workers": list(self._workers), "allow_other_workers": True} if self._refused else {}
            future = self._client.submit(self._call, item, pure=False, **where)
            try:
                accepted, value = await future
            except KilledWorker:
                deaths += 1
            except CancelledError:
                raise _lost() from None
            except Exception as error:
                if isinstance(error, OSError) and future.status != "error":  # the task has not raised it
                    raise _lost() from None
                raise failure(error) from None
            else:
                if accepted:
                    return value
                self._refuse(*value)
        raise EngineError("a task was given up, because each worker that ran it ended: see the logs of the workers")

    def _refuse(self, address: str, found: str) -> None:
        if address not in self._refused:
            self._refused.add(address)
            self._workers = {other: threads for other, threads in self._workers.items() if other != address}
            self._looked = -_LOOK_SECONDS
            tell(f"the worker {address} is not used: it has {found}, but needs Knightadder {version()}")

    def workers(self) -> int:
        self._must_be_connected()
        if time.monotonic() - self._looked >= _LOOK_SECONDS:
            self._look()
            if not self._workers and not self._waiting:
                tell("the cluster has no workers: waiting for one")
            self._waiting = not self._workers
        return sum(self._workers.values())

    def _must_be_connected(self) -> None:
        if self._client.status != "running":
            raise _lost()

    def _look(self) -> None:
        try:
            there = self._client.nthreads()
        except OSError:
            raise _lost() from None
        self._looked = time.monotonic()
        self._workers = {address: threads for address, threads in there.items() if address not in self._refused}
        if there and not self._workers:
            raise EngineError(
                f"no worker of the cluster has Knightadder {version()}: install this version on the workers"
            )

    def place(self) -> str:
        machines = {address.rpartition(":")[0] for address in self._workers}
        return f"{counted(len(machines), 'machine')}, {counted(len(self._workers), 'worker')}"


def _lost() -> EngineError:
    return EngineError("the connection to the cluster's scheduler was lost: check that the scheduler is running")
