"""A running search whose lines threads and coroutines can wait for."""

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from types import TracebackType

import chess

from knightadder.engine.info import (
    CurrentMove,
    Info,
    Message,
    Result,
)
from knightadder.library.loading import logger
from knightadder.library.results import Analysis, Line, line_of

# Where the system does not interrupt a waiting thread, it checks for Ctrl-C this often, in seconds.
_LOOK_UP = 0.5


class Stream:
    """The lines of a running search, each of them once, and its result.

    It is an iterator, an asynchronous iterator, and a context manager of both kinds, which ends the search on exit.

    Parameters
    ----------
    fen : str
        The position that is searched.
    stop : callable
        Ends the search.
    """

    def __init__(self, fen: str, stop: Callable[[], None]) -> None:
        self._fen, self._stop = fen, stop
        self._changed = threading.Condition()
        self._fresh: deque[Line] = deque()
        self._newest: dict[int, Line] = {}
        self._analysis: Analysis | None = None
        self._stopped = False
        self._wakers: list[Callable[[], object]] = []

    # --- for the engine's threads ----------------------------------------------------------------------------------

    def report(self, news: Info | CurrentMove | Message) -> None:
        """Accept a report of the engine."""
        if isinstance(news, Message):
            logger.info("%s", news.text)
        elif isinstance(news, Info):
            line = line_of(news, self._fen)
            with self._changed:
                self._fresh.append(line)
                self._newest[line.rank] = line
                self._notify()

    def finish(self, result: Result) -> None:
        """Accept the engine's result."""
        best, ponder = [chess.Move.from_uci(name) if name else None for name in (result.best_move, result.ponder)]
        with self._changed:
            lines = tuple(self._newest[rank] for rank in sorted(self._newest))
            self._analysis = Analysis(lines, best, ponder)
            self._notify()

    def _notify(self) -> None:
        self._changed.notify_all()
        for wake in self._wakers:
            with contextlib.suppress(RuntimeError):  # the event loop has been closed
                wake()
        self._wakers.clear()

    # --- for all callers -------------------------------------------------------------------------------------------

    @property
    def done(self) -> bool:
        """Whether the search has ended."""
        return self._analysis is not None

    @property
    def ending(self) -> bool:
        """Whether the search has ended, or has been told to end."""
        return self._stopped or self.done

    def stop(self) -> None:
        """End the search soon; the result is what it has found by then."""
        with self._changed:  # the search cannot end meanwhile, so that the next one would be told instead
            if not self.done:
                self._stopped = True
                self._stop()

    # --- for threads -----------------------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Line]:
        return self

    def __next__(self) -> Line:
        with self._changed:
            while not self._fresh:
                if self.done:
                    raise StopIteration
                self._changed.wait(_LOOK_UP)
            return self._fresh.popleft()

    def result(self) -> Analysis:
        """Wait for the end of the search and give its result; an exception, such as Ctrl-C, ends the search."""
        try:
            with self._changed:
                while self._analysis is None:
                    self._changed.wait(_LOOK_UP)
                return self._analysis
        except BaseException:
            self.stop()
            raise

    def __enter__(self) -> "Stream":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        self.result()

    # --- for coroutines --------------------------------------------------------------------------------------------

    def __aiter__(self) -> AsyncIterator[Line]:
        return self

    async def __anext__(self) -> Line:
        while True:
            with self._changed:
                if self._fresh:
                    return self._fresh.popleft()
                if self.done:
                    raise StopAsyncIteration
                change = self._next_change()
            await change.wait()

    async def result_async(self) -> Analysis:
        """Wait for the end of the search and give its result; cancelling the task ends the search."""
        try:
            while True:
                with self._changed:
                    if self._analysis is not None:
                        return self._analysis
                    change = self._next_change()
                await change.wait()
        except BaseException:
            self.stop()
            raise

    def _next_change(self) -> asyncio.Event:
        """Give an event of the running loop that is set at the next change; call it under the lock."""
        loop, event = asyncio.get_running_loop(), asyncio.Event()
        self._wakers.append(lambda: loop.call_soon_threadsafe(event.set))
        return event

    async def __aenter__(self) -> "Stream":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        self.result()  # takes about a millisecond, and must not be cancelled
