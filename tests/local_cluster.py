"""A Dask cluster of two processes on this machine."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import dask
from distributed import LocalCluster

# A worker that was killed is replaced, however long that takes on a busy machine.
_PATIENCE = {"distributed.deploy.lost-worker-timeout": "1 day"}


@contextmanager
def local_cluster() -> Iterator[LocalCluster]:
    """Run a cluster for a ``with`` block."""
    with (
        dask.config.set(_PATIENCE),
        LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit=0, dashboard_address=":0", silence_logs=logging.CRITICAL
        ) as cluster,
    ):
        yield cluster
