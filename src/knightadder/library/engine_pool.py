"""A pool of engines that many threads or tasks share, such as the handlers of a web server."""

import asyncio
import contextlib
import os
import threading
import weakref
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from concurrent.futures import Future
from types import TracebackType
from typing import Self

import chess.engine

from knightadder.closing import Closing, Unique
from knightadder.engine.capacity import processors
from knightadder.engine.errors import EngineError
from knightadder.engine.threads import start_thread
from knightadder.library.board_engine import Engine
from knightadder.library.boards import Move, Position, seconds_of, whole
from knightadder.library.engine_options import Folders, Setting
from knightadder.library.results import Analysis, PlayResult
from knightadder.library.waiting import result_of

_BUSY = "no engine of the pool is free: try again later"
_CLOSED = "the pool of engines has been closed"

_pools: "weakref.WeakSet[EnginePool]" = weakref.WeakSet()


class PoolBusyError(EngineError):
    """No engine of a pool is free, and too many callers are waiting, or this caller has waited too long."""


class EnginePool(Closing, Unique):
    """Engines for many threads or tasks, such as the handlers of a web server.

    During a call, an engine belongs to the caller alone. If no engine is free, callers wait, and get engines in the
    order in which they came. An engine is made when it is first needed. As a context manager, with ``with`` or ``async
    with``, the pool is closed at the end of the block.

    Parameters
    ----------
    engines : int, optional
        Maximum number of engines (default: the number of processors).
    waiting : int, optional
        Maximum number of callers that wait (default: no maximum).
    timeout : float, optional
        Maximum time in seconds that a caller waits for an engine, even a new one (default: no maximum).
    hash_mb, threads, evaluation, syzygy_path, options
        Settings of each engine; see `Engine`. Errors in them are raised in the first call.

    Raises
    ------
    ValueError, TypeError
        If a number is invalid.
    """

    def __init__(
        self,
        engines: int | None = None,
        *,
        waiting: int | None = None,
        timeout: float | None = None,
        hash_mb: int = 16,
        threads: int = 1,
        evaluation: str | None = None,
        syzygy_path: Folders | None = None,
        options: Mapping[str, Setting] | None = None,
    ) -> None:
        self._most = processors() if engines is None else whole("engines", engines, 1)
        self._most_waiting = None if waiting is None else whole("waiting", waiting, 0)
        if timeout is not None and seconds_of("timeout", timeout) < 0:
            raise ValueError(f"timeout must be at least 0, not {timeout}")
        self.timeout = timeout

        def make() -> Engine:
            return Engine(
                hash_mb=hash_mb, threads=threads, evaluation=evaluation, syzygy_path=syzygy_path, options=options
            )

        self._make = make
        self._lock = threading.Lock()
        self._engines: set[Engine] = set()
        self._idle: list[Engine] = []
        self._making = 0  # number of engines that are being made
        self._settings: dict[str, Setting] = {}  # values of the options of a new engine
        self._waiting: deque[Future[Engine]] = deque()
        self._closed = False
        _pools.add(self)

    # --- for threads -----------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def lend(self) -> Iterator[Engine]:
        """Lend an engine for a ``with`` block. At its end, a running search is stopped, and changed options are reset.

        Raises
        ------
        PoolBusyError
            If too many callers are waiting for an engine, or this caller has waited too long.
        EngineError
            If the pool has been closed, or the engine cannot be made.
        """
        with self._place_of_caller() as wanted:
            engine = result_of(wanted, self.timeout)
        try:
            yield engine
        finally:
            self._take_back(engine)

    def play(
        self, board: Position, limit: chess.engine.Limit, *, root_moves: Iterable[Move] | None = None
    ) -> PlayResult:
        """Choose a move with one of the engines; see `Engine.play` and `lend`."""
        with self.lend() as engine:
            return engine.play(board, limit, root_moves=root_moves)

    def analyse(
        self,
        board: Position,
        limit: chess.engine.Limit,
        *,
        multipv: int = 1,
        root_moves: Iterable[Move] | None = None,
    ) -> Analysis:
        """Analyse a position with one of the engines; see `Engine.analyse` and `lend`."""
        with self.lend() as engine:
            return engine.analyse(board, limit, multipv=multipv, root_moves=root_moves)

    # --- for coroutines --------------------------------------------------------------------------------------------

    @contextlib.asynccontextmanager
    async def lend_async(self) -> AsyncIterator[Engine]:
        """Lend an engine for an ``async with`` block; see `lend`. Cancelling the task gives up its place."""
        with self._place_of_caller() as wanted:
            if not wanted.done():
                async with asyncio.timeout(self.timeout):  # before Python 3.12, wait_for can lose a cancellation
                    await asyncio.wrap_future(wanted)
            engine = wanted.result()
        try:
            yield engine
        finally:
            self._take_back(engine)

    async def play_async(
        self, board: Position, limit: chess.engine.Limit, *, root_moves: Iterable[Move] | None = None
    ) -> PlayResult:
        """Choose a move with one of the engines; see `Engine.play` and `lend`. Cancelling the task ends the search."""
        async with self.lend_async() as engine:
            return await engine.play_async(board, limit, root_moves=root_moves)

    async def analyse_async(
        self,
        board: Position,
        limit: chess.engine.Limit,
        *,
        multipv: int = 1,
        root_moves: Iterable[Move] | None = None,
    ) -> Analysis:
        """Analyse a position with one of the engines; see `analyse`. Cancelling the task ends the search."""
        async with self.lend_async() as engine:
            return await engine.analyse_async(board, limit, multipv=multipv, root_moves=root_moves)

    # --- the end ---------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Close all engines. Running searches return what they have found; waiting callers get an error."""
        with self._lock:
            self._closed = True
            engines, self._engines, self._idle = self._engines, set(), []
            waiting, self._waiting = self._waiting, deque()
        _refuse(waiting, EngineError(_CLOSED))
        for engine in engines:
            engine.close()

    def __repr__(self) -> str:
        if self._closed:
            return "<EnginePool: closed>"
        used = len(self._engines) - len(self._idle)
        return f"<EnginePool: {used} of {self._most} engines in use, {len(self._waiting)} callers waiting>"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # --- engines and waiting callers -------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _place_of_caller(self) -> "Iterator[Future[Engine]]":
        """Yield the future of an engine to a block that waits for it; on an error, give up the caller's place."""
        wanted = self._ask()
        try:
            yield wanted
        except BaseException as error:
            self._withdraw(wanted)
            if isinstance(error, TimeoutError):
                raise PoolBusyError(_BUSY) from None
            raise

    def _ask(self) -> "Future[Engine]":
        """Return the future of an engine: one that is idle, or the next one that becomes free."""
        wanted: Future[Engine] = Future()
        with self._lock:
            if self._closed:
                raise EngineError(_CLOSED)
            if self._idle:
                wanted.set_result(self._idle.pop())
                return wanted
            makes, most = self._makes_one(), self._most_waiting
            # Callers for whom an engine is being made do not count as waiting.
            if not makes and most is not None and len(self._waiting) - self._making >= most:
                raise PoolBusyError(_BUSY)
            self._waiting.append(wanted)
        return wanted

    def _makes_one(self) -> bool:
        """Begin to make an engine unless there are enough. The lock must be held. EngineError if the system allows no
        more threads and there is no other engine to wait for.
        """
        if len(self._engines) + self._making >= self._most:
            return False
        try:
            start_thread(self._make_one, "engine of a pool")
        except EngineError:
            if self._engines or self._making:
                return False
            raise
        self._making += 1
        return True

    def _make_one(self) -> None:
        engine = problem = None
        try:
            engine = self._make()
            settings = {name: option.value for name, option in engine.options.items() if option.value is not None}
        except Exception as error:
            problem = error
        with self._lock:
            self._making -= 1
            if engine is not None and problem is None and not self._closed:
                self._settings = settings
                self._engines.add(engine)
                self._hand_out(engine)
                return
            waiting, self._waiting = self._waiting, deque()
        _refuse(waiting, problem or EngineError(_CLOSED))
        if engine is not None:
            engine.close()

    def _hand_out(self, engine: Engine) -> None:
        """Give an engine to the first waiting caller, or keep it. The lock must be held."""
        while self._waiting:
            wanted = self._waiting.popleft()
            if wanted.set_running_or_notify_cancel():
                wanted.set_result(engine)
                return
        self._idle.append(engine)

    def _withdraw(self, wanted: "Future[Engine]") -> None:
        """Give up the place of a caller, or the engine that the caller has got in the meantime."""
        with self._lock, contextlib.suppress(ValueError):
            self._waiting.remove(wanted)
        if not wanted.cancel() and wanted.exception() is None:
            self._take_back(wanted.result())

    def _take_back(self, engine: Engine) -> None:
        """Stop the search of an engine, reset its options, and lend it to the next caller."""
        usable = False
        try:
            # Raises an EngineError if a caller has closed the engine, or the process was forked.
            with contextlib.suppress(EngineError):
                engine.stop()
                options = engine.options
                engine.configure({name: old for name, old in self._settings.items() if options[name].value != old})
                usable = True
        finally:  # even after Ctrl-C, another engine can take the place of this one
            with self._lock:
                if usable and engine in self._engines:
                    self._hand_out(engine)
                elif engine in self._engines:  # the pool has not been closed
                    self._engines.remove(engine)
                    try:
                        if self._waiting:
                            self._makes_one()
                    except EngineError as error:
                        _refuse(self._waiting, error)
                        self._waiting.clear()
            if not usable:
                engine.close()

    def _survive_fork(self) -> None:
        """Forget the callers of the other process, and the engines that they use."""
        self._lock = threading.Lock()
        self._waiting.clear()
        self._making, self._engines = 0, set(self._idle)


def _refuse(waiting: Iterable["Future[Engine]"], error: Exception) -> None:
    for wanted in waiting:
        if wanted.set_running_or_notify_cancel():
            wanted.set_exception(error)


def _survive_fork() -> None:
    for pool in list(_pools):
        pool._survive_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_survive_fork)
