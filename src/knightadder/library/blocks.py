"""Work on blocks of positions by several workers: threads of this process, or those of an executor elsewhere.

What goes to an executor is a text that `eval` runs, and bytes. So a worker without this package, or with another
version of it, can say so.
"""

import pickle
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from itertools import islice
from queue import SimpleQueue
from typing import Any, Generic, Self, TypeVar

from knightadder.engine.errors import EngineError
from knightadder.executor import version

Block = TypeVar("Block")
Item = TypeVar("Item")
Outcome = TypeVar("Outcome")

WORKERS = 64  # taken to be those of an executor, which does not tell

_AHEAD = 4  # blocks handed out for each worker, so that none has to wait, not even for a block that takes long
_LOOK_UP = 0.5  # seconds; where the system does not interrupt a waiting thread, it checks for Ctrl-C this often
_CALL = "__import__('importlib').import_module('knightadder.library.blocks').call(wanted, pickled)"


def blocks_of(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Cut items into lists of this length, the last one perhaps shorter; none is taken before it is needed."""
    remaining = iter(items)
    return iter(lambda: list(islice(remaining, size)), [])


class Threads(Generic[Block, Outcome]):
    """Threads that work on blocks. The interpreter waits for those of a ThreadPoolExecutor when it ends, not for these.

    As a context manager it waits for the work that has begun.

    Parameters
    ----------
    count : int
        Number of threads.
    name : str
        Begins their names.
    work : callable
        Does the work on a block.
    """

    def __init__(self, count: int, name: str, work: Callable[[Block], Outcome]) -> None:
        self._work = work
        self._waiting: SimpleQueue[tuple[Future[Outcome], Block] | None] = SimpleQueue()
        self._count, self._name = count, name
        self._threads: list[threading.Thread] = []

    def submit(self, block: Block) -> Future[Outcome]:
        """Hand out a block."""
        future: Future[Outcome] = Future()
        self._waiting.put((future, block))
        return future

    def _run(self) -> None:
        while (handed := self._waiting.get()) is not None:
            future, block = handed
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(self._work(block))
                except BaseException as error:
                    future.set_exception(error)
            del handed, future, block

    def __enter__(self) -> Self:
        try:
            for number in range(self._count):
                thread = threading.Thread(target=self._run, name=f"{self._name} {number}", daemon=True)
                thread.start()
                self._threads.append(thread)
        except BaseException:  # the system gives no more threads
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for _thread in self._threads:
            self._waiting.put(None)
        if not sys.is_finalizing():  # then none of them runs any more, and none ends
            for thread in self._threads:
                thread.join()


def results_of(
    blocks: Iterable[Block], submit: Callable[[Block], Future[Outcome]], workers: int, in_order: bool = True
) -> Generator[tuple[Block, Outcome], None, None]:
    """Hand out blocks and yield each with its result.

    Parameters
    ----------
    blocks : iterable
        Only as many are taken ahead as the workers need, and none while a result can be yielded.
    submit : callable
        Hands out a block.
    workers : int
        Number of workers.
    in_order : bool
        Whether the results come in the order of the blocks, or as they are ready.

    Raises
    ------
    EngineError
        If a worker has another version, or whatever the work raises. What is not begun is then cancelled.
    """
    remaining, running = iter(blocks), dict[Future[Outcome], Block]()  # in the order of the blocks
    more = True
    try:
        while more or running:
            ready = _first_ready(running, in_order)
            if ready is not None:
                yield running.pop(ready), _result(ready)
            elif more and len(running) < _AHEAD * workers:
                block = next(remaining, None)
                more = block is not None
                if block is not None:
                    running[submit(block)] = block
            else:
                wait(list(islice(running, 1)) if in_order else running, _LOOK_UP, FIRST_COMPLETED)
    finally:
        for future in running:
            future.cancel()


def _first_ready(running: Iterable[Future[Outcome]], in_order: bool) -> Future[Outcome] | None:
    return next((future for future in islice(running, 1 if in_order else None) if future.done()), None)


def _result(future: Future[Outcome]) -> Outcome:
    try:
        return future.result()
    except ImportError:
        raise EngineError(f"a worker of the executor has no such Knightadder: it needs {version()}") from None


def submitter(executor: Executor, work: Callable[..., Outcome], *arguments: Any) -> Callable[[Any], Future[Outcome]]:
    """Give a function that hands out a block to an executor.

    Parameters
    ----------
    executor : concurrent.futures.Executor
        Any.
    work : callable
        A function of a module of this package.
    *arguments
        Its first arguments; the last one is the block.

    Raises
    ------
    TypeError
        If it is no executor.
    """
    if not isinstance(executor, Executor):
        raise TypeError(f"executor is a concurrent.futures.Executor, not {executor!r:.60}")

    def submit(block: Any) -> Future[Outcome]:
        names = {"wanted": version(), "pickled": pickle.dumps((work, *arguments, block))}
        return executor.submit(eval, _CALL, names)

    return submit


def call(wanted: str, pickled: bytes) -> Any:
    """Do the work on a block, in a worker; EngineError if it has another version than is wanted."""
    if version() != wanted:
        raise EngineError(f"a worker of the executor has Knightadder {version()}, and needs {wanted}")
    work, *arguments = pickle.loads(pickled)
    return work(*arguments)
