"""Workers for blocks of positions: threads of this process, an executor, or a Dask cluster."""

import pickle
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Executor, Future
from contextlib import closing
from itertools import islice
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Self, TypeAlias, TypeVar

from knightadder.engine.errors import EngineError
from knightadder.engine.threads import start_thread
from knightadder.parallel.pool import Pool, version

if TYPE_CHECKING:
    import distributed

Block = TypeVar("Block")
Item = TypeVar("Item")
Elsewhere: TypeAlias = "Executor | distributed.Client | None"  # None means threads of this process

_WORKERS = 64  # assumed number of an executor's workers, because an executor does not report it


def blocks_of(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Divide items, which are taken only when they are needed, into lists of this length; the last may be shorter."""
    remaining = iter(items)
    return iter(lambda: list(islice(remaining, size)), [])


def results_elsewhere(
    blocks: Iterable[Block], work: Callable[[Block], Any], where: Elsewhere, workers: int | None, in_order: bool
) -> Generator[tuple[Block, Any], None, None]:
    """Let other processes or machines do the work on blocks; yield each block with its result, in order or as ready.
    `workers` is the number of an executor's workers. EngineError if a worker has a different version.
    """
    pickled = pickle.dumps(work)
    if isinstance(where, Executor):
        return _ExecutorPool(where, pickled, workers or _WORKERS).run(blocks, in_order)
    if "distributed" not in sys.modules or not isinstance(where, sys.modules["distributed"].Client):
        kinds = "a concurrent.futures.Executor or a distributed.Client"
        raise TypeError(f"executor must be {kinds}, not {where!r:.60}")
    return _by_cluster(blocks, where, pickled, in_order)


def _by_cluster(
    blocks: Iterable[Block], client: "distributed.Client", pickled: bytes, in_order: bool
) -> Generator[tuple[Block, Any], None, None]:
    from knightadder.parallel.cluster import workers_of

    with workers_of(client, pickled) as pool, closing(pool.run(blocks, in_order)) as found:
        yield from found


class _ExecutorPool(Pool):
    def __init__(self, executor: Executor, pickled: bytes, count: int) -> None:
        self._executor, self._pickled, self._count = executor, pickled, count

    def submit(self, item: Any) -> Future[Any]:
        return self._executor.submit(call, version(), self._pickled, pickle.dumps(item))

    def workers(self) -> int:
        return self._count


def call(wanted: str, pickled: bytes, block: bytes) -> Any:
    """Do the work on a block in a worker of an executor; EngineError if the worker has a different version."""
    if version() != wanted:
        raise EngineError(f"a worker of the executor has Knightadder {version()}, but needs {wanted}")
    return pickle.loads(pickled)(pickle.loads(block))


class Threads(Pool):
    """At most `count` threads that work on blocks; each starts when there is a block for it. Unlike the threads of a
    ThreadPoolExecutor, they do not delay Python's exit. At the end of a ``with`` block, the work that has begun is
    awaited.
    """

    def __init__(self, count: int, name: str, work: Callable[[Any], Any]) -> None:
        self._work = work
        self._waiting: SimpleQueue[tuple[Future[Any], Any] | None] = SimpleQueue()
        self._count, self._name = count, name
        self._threads: list[threading.Thread] = []

    def submit(self, item: Any) -> Future[Any]:
        """Hand out a block; EngineError if the system allows no more threads."""
        future: Future[Any] = Future()
        self._waiting.put((future, item))
        if len(self._threads) < self._count:
            self._threads.append(start_thread(self._run, f"{self._name} {len(self._threads)}"))
        return future

    def workers(self) -> int:
        """Return the number of threads."""
        return self._count

    def _run(self) -> None:
        while (handed := self._waiting.get()) is not None:
            future, item = handed
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(self._work(item))
                except BaseException as error:
                    future.set_exception(error)
            del handed, future, item
        self._waiting.put(None)  # for the other threads

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        # Each thread passes this on, because after Ctrl-C, `_threads` may lack a thread that has just been started.
        self._waiting.put(None)
        if not sys.is_finalizing():  # at Python's exit, daemon threads are frozen, so joining them would never end
            for thread in self._threads:
                thread.join()
