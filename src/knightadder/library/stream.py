"""A running search whose lines threads and coroutines can wait for."""

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from types import TracebackType

from knightadder.closing import Unique
from knightadder.engine.errors import EngineError
from knightadder.engine.info import CurrentMove, Info, Message, Result
from knightadder.library.loading import logger
from knightadder.library.results import Analysis, Line, analysis_of, line_of
from knightadder.library.waiting import LOOK_UP

LOST = "the engine was searching when this process was forked: create a new engine"


class Feed:
    """The reports of a search. The engine's threads store them here, and callers wait for them.

    A caller holds no lock that the engine's threads need, so Ctrl-C may interrupt it anywhere. `analysis` is the result
    once the search has ended. `ending` says whether the search has ended or has been told to end.
    """

    def __init__(self, fen: str) -> None:
        self.analysis: Analysis | None = None
        self.ending = False
        self._fen, self._lost = fen, False
        self._stop: Callable[[], None] | None = None
        self._fresh: deque[Line] = deque()
        self._newest: dict[int, Line] = {}
        # There are separate waiters for any change and for the end, because a wake-up takes longer than reading a line.
        self._wakers: deque[Callable[[], object]] = deque()
        self._wakers_at_end: deque[Callable[[], object]] = deque()

    # --- for the engine's threads ----------------------------------------------------------------------------------

    def report(self, news: Info | CurrentMove | Message) -> None:
        """Accept a report from the engine."""
        if isinstance(news, Message):
            logger.info("%s", news.text)
        elif isinstance(news, Info):
            line = line_of(news, self._fen)
            self._fresh.append(line)
            self._newest[line.rank] = line
            self._wake(self._wakers)

    def finish(self, result: Result) -> None:
        """Accept the engine's result."""
        self.analysis = analysis_of((self._newest[rank] for rank in sorted(self._newest)), result)
        self.ending, self._stop = True, None  # cleared, because the search refers to this feed
        self._wake(self._wakers)
        self._wake(self._wakers_at_end)

    def _wake(self, wakers: deque[Callable[[], object]]) -> None:
        # A later waiter sees the change itself, because it checks after it has registered.
        while wakers:
            # Another thread has woken the waiter, or its event loop has been closed.
            with contextlib.suppress(IndexError, RuntimeError):
                wakers.popleft()()

    # --- for callers -----------------------------------------------------------------------------------------------

    def follow(self, stop: Callable[[], None]) -> None:
        """Store the function that ends the search."""
        self._stop = stop
        if self.analysis is not None:  # the search has already ended
            self._stop = None

    def stop(self) -> None:
        """Stop the search soon. Any thread may call this."""
        if (stop := self._stop) is not None:
            stop()
            self.ending = True

    def lose(self) -> None:
        """Raise an EngineError in all waiting callers, because the search's threads are in a different process."""
        self._lost, self._stop = True, None

    def result(self) -> Analysis:
        """Wait for the end of the search, and return its result."""
        while self.analysis is None:
            bell = self._bell(self._wakers_at_end)
            if self.analysis is None:
                while not bell.acquire(timeout=LOOK_UP):
                    pass
        return self.analysis

    def line(self) -> Line | None:
        """Wait for a line and return it; None once there are no more."""
        while True:
            ended = self.analysis is not None
            with contextlib.suppress(IndexError):
                return self._fresh.popleft()
            if ended:
                return None
            bell = self._bell(self._wakers)
            if not self._fresh and self.analysis is None:
                while not bell.acquire(timeout=LOOK_UP):
                    pass

    def _bell(self, wakers: deque[Callable[[], object]]) -> threading.Lock:
        """Return a lock that can be acquired when these waiters are woken."""
        self._check()
        bell = threading.Lock()
        bell.acquire()
        wakers.append(bell.release)
        return bell

    async def result_async(self) -> Analysis:
        """Wait for the end of the search, and return its result; for coroutines."""
        while self.analysis is None:
            change = self._event(self._wakers_at_end)
            if self.analysis is None:
                await change.wait()
        return self.analysis

    async def line_async(self) -> Line | None:
        """Wait for a line and return it; None once there are no more; for coroutines."""
        while True:
            ended = self.analysis is not None
            with contextlib.suppress(IndexError):
                return self._fresh.popleft()
            if ended:
                return None
            change = self._event(self._wakers)
            if not self._fresh and self.analysis is None:
                await change.wait()

    def _check(self) -> None:
        if self._lost:
            raise EngineError(LOST)

    def _event(self, wakers: deque[Callable[[], object]]) -> asyncio.Event:
        self._check()
        loop, event = asyncio.get_running_loop(), asyncio.Event()
        wakers.append(lambda: loop.call_soon_threadsafe(event.set))
        return event


class Stream(Unique):
    """The lines of a running search, each of them once, and its result; returned by `Engine.stream`.

    It is both an iterator and an asynchronous iterator. The search stops at the end of a ``with`` block, when a loop
    over the lines is left, or when the stream is no longer referenced. An exception in a waiting caller, such as
    Ctrl-C, stops it too.
    """

    def __init__(self, feed: Feed, engine: object = None) -> None:
        self._feed, self._engine = feed, engine
        self._entered = False

    @property
    def done(self) -> bool:
        """Whether the search has ended."""
        return self._feed.analysis is not None

    def stop(self) -> None:
        """Stop the search soon. The result is the best that it has found by then."""
        self._feed.stop()

    def __repr__(self) -> str:
        return f"<Stream: {'done' if self.done else 'searching'}>"

    def __del__(self) -> None:
        self.stop()

    # --- for threads -----------------------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Line]:
        return self if self._entered else self._until_left()

    def __next__(self) -> Line:
        with self._ended_by_errors():
            line = self._feed.line()
        if line is None:
            raise StopIteration
        return line

    def _until_left(self) -> Iterator[Line]:
        try:
            while (line := self._feed.line()) is not None:
                yield line
        finally:
            self.stop()

    def result(self) -> Analysis:
        """Wait for the end of the search, and return its result. An exception, such as Ctrl-C, stops the search."""
        with self._ended_by_errors():
            return self._feed.result()

    @contextlib.contextmanager
    def _ended_by_errors(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self.stop()
            raise

    def __enter__(self) -> "Stream":
        self._entered = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        self.result()

    # --- for coroutines --------------------------------------------------------------------------------------------

    def __aiter__(self) -> AsyncIterator[Line]:
        return self if self._entered else _UntilLeft(self)

    async def __anext__(self) -> Line:
        with self._ended_by_errors():
            line = await self._feed.line_async()
        if line is None:
            raise StopAsyncIteration
        return line

    async def result_async(self) -> Analysis:
        """Wait for the end of the search, and return its result. Cancelling the task stops the search."""
        with self._ended_by_errors():
            return await self._feed.result_async()

    async def __aenter__(self) -> "Stream":
        self._entered = True
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        self.result()  # takes about a millisecond, and must not be cancelled


class _UntilLeft(AsyncIterator[Line]):
    """The lines of a stream for an ``async for`` loop. The search stops as soon as the loop is left, while the event
    loop would close an asynchronous generator only later.
    """

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    async def __anext__(self) -> Line:
        return await self._stream.__anext__()

    def __del__(self) -> None:
        self._stream.stop()
