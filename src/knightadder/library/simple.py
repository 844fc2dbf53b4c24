"""The engine as python-chess's `SimpleEngine`, in this process: the same names, arguments and results."""

import asyncio
import contextlib
import os
import sys
import threading
import weakref
from collections.abc import Callable, Coroutine, Iterable, Mapping, MutableMapping
from concurrent.futures import InvalidStateError
from types import TracebackType
from typing import NoReturn, Self, TypeVar, overload

import chess
import chess.engine
from chess.engine import (
    INFO_ALL,
    INFO_NONE,
    AnalysisComplete,
    BestMove,
    ConfigMapping,
    EngineTerminatedError,
    Info,
    InfoDict,
    Limit,
    Opponent,
    UciOptionMap,
)

from knightadder.closing import Closing, Unique
from knightadder.engine.threads import start_thread
from knightadder.library.boards import Move, seconds_of
from knightadder.library.protocol import CLOSED, NO_OPTIONS, UciProtocol, as_sent, load
from knightadder.library.waiting import result_of

T = TypeVar("T")


class SimpleEngine(Closing, Unique, chess.engine.SimpleEngine):
    """The methods of ``chess.engine.SimpleEngine`` for an engine in this process.

    A script needs only one changed line: ``engine = knightadder.SimpleEngine.popen_uci()``. See `UciProtocol` for the
    few differences. An exception in a waiting caller, such as Ctrl-C, stops its search. A search also ends when nothing
    refers to its engine any longer.

    Parameters
    ----------
    timeout : float, optional
        If a call takes this many seconds longer than expected, it raises a ``TimeoutError``. ``None`` means no limit.
        The time that it waits for the calls of other threads does not count.
    options : mapping, optional
        Values of UCI options by name.

    Raises
    ------
    chess.engine.EngineError
        If the engine cannot be loaded, or an option is invalid.
    """

    protocol: UciProtocol

    def __init__(self, *, timeout: float | None = 10.0, options: ConfigMapping | None = None) -> None:
        if timeout is not None:
            seconds_of("timeout", timeout)
        engine = load()  # in this thread, so that Ctrl-C interrupts it
        self._loop = _running.start()

        async def make() -> UciProtocol:
            return UciProtocol(engine)

        protocol = result_of(asyncio.run_coroutine_threadsafe(make(), self._loop))
        assert protocol.transport is not None
        super().__init__(protocol.transport, protocol, timeout=timeout)
        self._turn = asyncio.Lock()
        self._closed = False
        weakref.finalize(self, engine.stop)
        if options:
            self.configure(options)

    @classmethod
    def popen(
        cls,
        Protocol: type[chess.engine.Protocol] = UciProtocol,
        command: str | list[str] = "",
        *,
        timeout: float | None = 10.0,
        debug: bool | None = None,
        setpgrp: bool = False,
        **popen_args: object,
    ) -> Self:
        """Make an engine; see `popen_uci`."""
        return cls(timeout=timeout)

    @classmethod
    def popen_uci(
        cls,
        command: str | list[str] = "",
        *,
        timeout: float | None = 10.0,
        debug: bool | None = None,
        setpgrp: bool = False,
        **popen_args: object,
    ) -> Self:
        """Make an engine.

        All arguments except ``timeout`` describe a process. They are accepted, so that scripts need not be changed, but
        ignored: the engine is always Knightadder, whatever ``command`` names.
        """
        return cls(timeout=timeout)

    popen_xboard = popen_uci

    # --- name and options ------------------------------------------------------------------------------------------

    @property
    def options(self) -> MutableMapping[str, chess.engine.Option]:
        """The options that `configure` can set, by name; case does not matter."""
        self._check_open()
        return UciOptionMap(self.protocol.options.items())

    @property
    def id(self) -> Mapping[str, str]:
        """The engine's ``name`` and ``author``."""
        self._check_open()
        return dict(self.protocol.id)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} (pid={os.getpid()})>"

    # --- commands --------------------------------------------------------------------------------------------------

    def communicate(self, command_factory: object) -> NoReturn:
        """Raise an EngineError, because the engine does not read UCI commands."""
        self._check_open()
        self.protocol.send_line("")
        raise AssertionError

    def ping(self) -> None:
        """Wait until the engine is idle. A running `analysis` is stopped."""
        self._command(self.protocol.ping, self.timeout)

    def configure(self, options: ConfigMapping) -> None:
        """Set options by name for all further calls. The value ``None`` presses a button."""
        self._command(lambda: self.protocol.configure(options), self.timeout)

    def send_opponent_information(self, *, opponent: Opponent | None = None, engine_rating: int | None = None) -> None:
        """Do nothing, because the engine plays the same against every opponent."""
        self._command(
            lambda: self.protocol.send_opponent_information(opponent=opponent, engine_rating=engine_rating),
            self.timeout,
        )

    def send_game_result(
        self,
        board: chess.Board,
        winner: chess.Color | None = None,
        game_ending: str | None = None,
        game_complete: bool = True,
    ) -> None:
        """Do nothing, because the engine does not need the result of a game."""
        self._check_open()

    def play(
        self,
        board: chess.Board,
        limit: Limit,
        *,
        game: object = None,
        info: Info = INFO_NONE,
        ponder: bool = False,
        draw_offered: bool = False,
        root_moves: Iterable[Move] | None = None,
        options: ConfigMapping = NO_OPTIONS,
        opponent: Opponent | None = None,
    ) -> chess.engine.PlayResult:
        """Choose a move; see `UciProtocol.play`."""
        patience = self._patience(limit)  # first, because it may raise an error
        return self._command(
            lambda: self.protocol.play(
                board,
                limit,
                game=game,
                info=info,
                ponder=ponder,
                draw_offered=draw_offered,
                root_moves=root_moves,
                options=options,
                opponent=opponent,
            ),
            patience,
        )

    @overload
    def analyse(
        self,
        board: chess.Board,
        limit: Limit,
        *,
        game: object = None,
        info: Info = INFO_ALL,
        root_moves: Iterable[Move] | None = None,
        options: ConfigMapping = NO_OPTIONS,
    ) -> InfoDict: ...
    @overload
    def analyse(
        self,
        board: chess.Board,
        limit: Limit,
        *,
        multipv: int,
        game: object = None,
        info: Info = INFO_ALL,
        root_moves: Iterable[Move] | None = None,
        options: ConfigMapping = NO_OPTIONS,
    ) -> list[InfoDict]: ...
    @overload
    def analyse(
        self,
        board: chess.Board,
        limit: Limit,
        *,
        multipv: int | None = None,
        game: object = None,
        info: Info = INFO_ALL,
        root_moves: Iterable[Move] | None = None,
        options: ConfigMapping = NO_OPTIONS,
    ) -> InfoDict | list[InfoDict]: ...
    def analyse(
        self,
        board: chess.Board,
        limit: Limit,
        *,
        multipv: int | None = None,
        game: object = None,
        info: Info = INFO_ALL,
        root_moves: Iterable[Move] | None = None,
        options: ConfigMapping = NO_OPTIONS,
    ) -> InfoDict | list[InfoDict]:
        """Analyse a position until the limit is reached; see `UciProtocol.analyse`."""
        patience = self._patience(limit)
        return self._command(
            lambda: self.protocol.analyse(
                board, limit, multipv=multipv, game=game, info=info, root_moves=root_moves, options=options
            ),
            patience,
        )

    def analysis(
        self,
        board: chess.Board,
        limit: Limit | None = None,
        *,
        multipv: int | None = None,
        game: object = None,
        info: Info = INFO_ALL,
        root_moves: Iterable[Move] | None = None,
        options: ConfigMapping = NO_OPTIONS,
    ) -> "SimpleAnalysisResult":
        """Start an analysis and return immediately; see `UciProtocol.analysis`."""
        started = self._command(
            lambda: self.protocol.analysis(
                board, limit, multipv=multipv, game=game, info=info, root_moves=root_moves, options=options
            ),
            self.timeout,
        )
        return SimpleAnalysisResult(self, started)

    def quit(self) -> None:
        """Close the engine. A running search returns what it has found; waiting calls raise an error."""
        if not sys.is_finalizing():
            self._check_open()
        self.close()

    def close(self) -> None:
        """Close the engine, unless that has been done; see `quit`."""
        if self._closed or not self._is_here():
            return
        self.protocol.refuse_calls()
        self._call(self.protocol.quit())
        self._closed = True
        with contextlib.suppress(InvalidStateError):  # another thread has also closed the engine
            self.returncode.set_result(0)

    # --- waiting ---------------------------------------------------------------------------------------------------

    def _patience(self, limit: Limit) -> float | None:
        time = as_sent(limit).time
        return None if self.timeout is None or time is None else self.timeout + time

    def _is_here(self) -> bool:
        """Whether the event loop runs: its thread is not forked, and does not run while the interpreter is ending."""
        return self._loop is _running.loop and not sys.is_finalizing()

    def _check_open(self) -> None:
        if self._closed:
            raise EngineTerminatedError(CLOSED)
        if not self._is_here():
            if sys.is_finalizing():
                raise EngineTerminatedError("the interpreter is ending")
            raise EngineTerminatedError("the engine does not run in this process: create a new engine")

    def _command(self, command: Callable[[], Coroutine[object, object, T]], timeout: float | None) -> T:
        """Run a command of the protocol after those of other threads, whose time does not count."""

        async def in_turn() -> T:
            async with self._turn:
                return await asyncio.wait_for(command(), timeout)

        return self._call(in_turn())

    def _call(self, work: Coroutine[object, object, T]) -> T:
        task: asyncio.Task[T] | None = None
        given_up = False

        async def run() -> T:
            nonlocal task
            task = asyncio.current_task()
            if given_up:
                work.close()
                raise asyncio.CancelledError
            return await work

        try:
            self._check_open()
        except EngineTerminatedError:
            work.close()
            raise
        try:
            return result_of(asyncio.run_coroutine_threadsafe(run(), self._loop))
        except BaseException:  # Ctrl-C may come before the future is known here
            given_up = True
            if task is not None:
                self._loop.call_soon_threadsafe(task.cancel)
            raise


class SimpleAnalysisResult(Unique, chess.engine.SimpleAnalysisResult):
    """The lines of a running analysis, returned by `SimpleEngine.analysis`.

    It is an iterator over dictionaries. As a context manager, it stops the analysis at the end of the block. An
    exception in a waiting caller, such as Ctrl-C, also stops it.
    """

    simple_engine: SimpleEngine

    @property
    def info(self) -> InfoDict:
        """The newest values of the best line."""
        return self.inner.info.copy()

    @property
    def multipv(self) -> list[InfoDict]:
        """The newest values of each line, best first."""
        return [info.copy() for info in self.inner.multipv]

    def stop(self) -> None:
        """Stop the analysis soon. Any thread may call this."""
        if not self.simple_engine._closed and self.simple_engine._is_here():
            self.simple_engine._loop.call_soon_threadsafe(self.inner.stop)

    def wait(self) -> BestMove:
        """Wait for the end of the analysis, and return the best move."""
        return self._wait_for(self.inner.wait())

    def would_block(self) -> bool:
        """Whether `get` would have to wait for the engine."""
        return self.inner.would_block()

    def empty(self) -> bool:
        """Whether all lines so far have been returned."""
        return self.inner.empty()

    def get(self) -> InfoDict:
        """Wait for a line and return it; raises ``chess.engine.AnalysisComplete`` if there are no more."""
        info = self.next()
        if info is None:
            raise AnalysisComplete
        return info

    def next(self) -> InfoDict | None:
        """Wait for a line and return it; ``None`` if there are no more."""
        return self._wait_for(self.inner.next())

    def _wait_for(self, work: Coroutine[object, object, T]) -> T:
        try:
            return self.simple_engine._call(work)
        except BaseException:
            self.stop()
            raise

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> InfoDict:
        info = self.next()
        if info is None:
            raise StopIteration
        return info

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


class _Loop:
    """The event loop of all these engines, in a separate thread that starts with the first engine."""

    def __init__(self) -> None:
        self.loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()

    def start(self) -> asyncio.AbstractEventLoop:
        """Start the loop, unless it is running, and return it."""
        with self._lock:
            if self.loop is None:
                loop = asyncio.new_event_loop()
                start_thread(loop.run_forever, "engines")
                self.loop = loop
            return self.loop


_running = _Loop()


def _forget_loop() -> None:
    """Forget the loop in a forked process, because its thread is not forked."""
    global _running
    _running = _Loop()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_loop)
