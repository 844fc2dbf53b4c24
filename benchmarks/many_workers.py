"""A cluster of workers that only wait: the cost of a task for the scheduler and the command, and losses.

    python benchmarks/many_workers.py --seconds 20

The scheduler, the connections, the pool (`knightadder.parallel.executor`) and the workers are real, but a hundred
workers share a process. A task sleeps for the duration of a real task, and returns as many bytes. Processes are killed
during the run. Linux only.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import dask
from distributed import Client, Worker

from knightadder.arguments import not_negative, positive, seconds
from knightadder.parallel.executor import open_pool

_HEADER = struct.Struct("<ddd")  # begin and end of the task, and its thread

# Settings that reduce the background work of workers, which is too much when a hundred workers share a process.
_CONFIG: dict[str, Any] = {
    "distributed.worker.use-file-locking": False,
    "distributed.worker.profile.enabled": False,
    "distributed.admin.system-monitor.interval": "30s",
}


class Sleep:
    """The task: sleeps, and returns begin, end and thread."""

    def __init__(self, seconds: float, size: int) -> None:
        self._seconds, self._size = seconds, size

    def __call__(self, item: int) -> bytes:
        """Return begin and end of the task, and its thread."""
        begun = time.time()
        # The duration varies with the item: 50 to 150 % of the mean.
        time.sleep(self._seconds * (0.5 + (item * 7919 % 1000) / 1000))
        return _HEADER.pack(begun, time.time(), os.getpid() + threading.get_native_id() / 2**24).ljust(self._size)


async def host(file: str, count: int) -> None:
    """Run workers until the process is killed."""
    workers = [Worker(scheduler_file=file, nthreads=1, memory_limit=0, name=f"{os.getpid()}-{n}") for n in range(count)]
    await asyncio.gather(*workers)
    await workers[0].finished()


def start_host(file: str, count: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, __file__, "--host", file, str(count)], stderr=subprocess.DEVNULL)


def cpu_seconds(process: int) -> float:
    """Return the CPU time of all threads of a process."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(chosen: argparse.Namespace, stack: ExitStack) -> None:
    folder = stack.enter_context(tempfile.TemporaryDirectory())
    file = str(Path(folder, "scheduler.json"))
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--no-dashboard", "--port", "0"]
    scheduler = subprocess.Popen([*command, "--scheduler-file", file], stderr=subprocess.DEVNULL, cwd=folder)
    stack.callback(scheduler.kill)
    while not Path(file).exists():
        time.sleep(0.1)
    hosts = []
    for _ in range(chosen.workers // chosen.together):
        hosts.append(start_host(file, chosen.together))
        stack.callback(hosts[-1].kill)
    begun = time.monotonic()
    with Client(scheduler_file=file) as client:
        client.wait_for_workers(chosen.workers)
    print(f"{chosen.workers} workers in {len(hosts)} processes, after {time.monotonic() - begun:.0f} s", flush=True)

    kills = [chosen.tasks * (number + 1) // (chosen.kills + 1) for number in range(chosen.kills)]
    came: Counter[int] = Counter()
    waited: list[float] = []
    spans: dict[float, list[tuple[float, float]]] = defaultdict(list)
    with open_pool(Sleep(chosen.seconds, chosen.size), file, 0) as pool:
        before = cpu_seconds(scheduler.pid), cpu_seconds(os.getpid())
        begun = time.monotonic()
        for item, result in pool.run(range(chosen.tasks)):
            first, last, thread = _HEADER.unpack_from(result)
            waited.append(time.time() - last)
            came[item] += 1
            spans[thread].append((first, last))
            if kills and len(waited) >= kills[0]:
                del kills[0]
                victim = hosts.pop(0)
                victim.kill()
                victim.wait()
                hosts.append(start_host(file, chosen.together))
                stack.callback(hosts[-1].kill)
        elapsed = time.monotonic() - begun
        after = cpu_seconds(scheduler.pid), cpu_seconds(os.getpid())

    work = sum(last - first for each in spans.values() for first, last in each)
    pairs = [pair for each in spans.values() for pair in itertools.pairwise(sorted(each))]
    gaps = [later[0] - earlier[1] for earlier, later in pairs]
    print(f"{chosen.tasks} tasks of {chosen.seconds} s and {chosen.size} bytes in {elapsed:.0f} s")
    print(f"  {chosen.tasks / elapsed:.1f} tasks a second; the workers worked {work / chosen.workers / elapsed:.0%}")
    print(f"  {chosen.kills * chosen.together} workers were killed, {chosen.tasks - len(came)} tasks lost, ", end="")
    print(f"{came.total() - len(came)} results too many")
    for name, one, other in zip(("scheduler", "command"), before, after, strict=True):
        used = other - one
        print(f"  {name}: {1000 * used / chosen.tasks:.1f} ms of processor time a task, {used / elapsed:.0%} of a core")
    for name, values in (("a result waits for", waited), ("a worker waits for its next task", gaps)):
        if len(values) > 1:
            late = statistics.quantiles(values, n=100)[98]
            print(f"  {name} {statistics.median(values):.2f} s (median), {late:.2f} s (99 %)")


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=positive, default=1000)
    parser.add_argument("--together", type=positive, default=100, help="workers in a process")
    parser.add_argument("--seconds", type=seconds, default=20.0, help="mean duration of a task")
    parser.add_argument("--size", type=positive, default=40_000, help="bytes of a result")
    parser.add_argument("--tasks", type=positive, default=4000)
    parser.add_argument(
        "--kills", type=not_negative, default=2, help="number of worker processes to kill during the run"
    )
    parser.add_argument("--host", nargs=2, metavar=("FILE", "COUNT"), help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.workers % chosen.together:
        parser.error("--workers must be a multiple of --together")
    with dask.config.set(_CONFIG), ExitStack() as stack:
        if chosen.host:
            asyncio.run(host(chosen.host[0], int(chosen.host[1])))
        else:
            os.environ["PYTHONPATH"] = str(Path(__file__).parent)  # so that workers find the task
            measure(chosen, stack)


if __name__ == "__main__":
    from many_workers import main as module_main  # so that the task has a name that workers know

    module_main()
