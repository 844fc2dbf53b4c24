"""Dask clusters on this machine."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dask
from distributed import LocalCluster
from waiting import TIMEOUT, eventually

from knightadder.parallel import cluster as dask_cluster

_CONNECT = "distributed.comm.timeouts.connect"

# A worker that was killed is replaced, and connections are waited for, however long that takes on a busy machine.
_PATIENCE = {"distributed.deploy.lost-worker-timeout": "1 day", _CONNECT: f"{TIMEOUT} s"}
_SECONDS = 30.0  # that the scheduler and the workers try to reach a worker, which may have been killed; Dask's default


@contextmanager
def local_cluster() -> Iterator[LocalCluster]:
    """Run a cluster of two processes for a ``with`` block."""
    with (
        dask.config.set(_PATIENCE),
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            memory_limit=0,
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
            preload=[dask_cluster.__name__],
            config={_CONNECT: _SECONDS},
        ) as cluster,
    ):
        cluster.scheduler.rpc.timeout = _SECONDS
        yield cluster


class Commands:
    """A scheduler and a worker, each started by its command.

    Attributes
    ----------
    file : Path
        The scheduler's file.
    """

    def __init__(self, folder: Path) -> None:
        self.file = folder / "scheduler.json"
        self._started: list[subprocess.Popen[bytes]] = []

    def start(self, worker: bool = True) -> None:
        """Start both, or the scheduler alone; those that were there before are ended."""
        self.end()
        self.file.unlink(missing_ok=True)
        programs = [("scheduler", "--port", "0"), ("worker", "--nthreads", "1")]
        for program, *words in programs if worker else programs[:1]:
            command = [sys.executable, "-m", f"distributed.cli.dask_{program}", "--no-dashboard", *words]
            self._started.append(
                subprocess.Popen(
                    [*command, "--scheduler-file", self.file],
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
            )
            eventually(self.file.exists)

    def lose_scheduler(self) -> None:
        """Kill the scheduler."""
        self._started[0].kill()

    def end(self) -> None:
        """Kill both."""
        for process in self._started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self._started.clear()


@contextmanager
def commands(folder: Path) -> Iterator[Commands]:
    """Give a scheduler and a worker that can be started, for a ``with`` block."""
    given = Commands(folder)
    try:
        with dask.config.set(_PATIENCE):
            yield given
    finally:
        given.end()
