"""An external UCI engine that searches positions, through python-chess, for the workers of a pool."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any, TypeVar

import chess
import chess.engine
from chess.engine import InfoDict

from knightadder.arguments import KeyValues, engine_options
from knightadder.closing import Closing
from knightadder.engine.errors import EngineError, OptionError
from knightadder.engine.threads import start_thread
from knightadder.text import command_line
from knightadder.uci.client import kill_tree, resolve_command
from knightadder.uci.short_lines import ShortLines

# Seconds beyond its time limit after which an engine counts as hung. Its first start may include a long compilation.
PATIENCE = 120.0
# Seconds without any ``info`` after which an engine without a time limit counts as hung. Deep in a search, some engines
# say nothing for minutes.
_SILENCE = 900.0
_LAST_WORD = 2.0  # seconds for an engine to stop or quit before it is killed

_handing_over = threading.Lock()  # held while work is handed to an event loop, so that the loop does not end meanwhile

T = TypeVar("T")


def read_engine(words: Sequence[str]) -> tuple[str | None, dict[str, str]]:
    """Return the command and the options of the argument ``--engine`` of a command that uses one engine.

    The words are ``cmd=COMMAND`` and ``option.NAME=VALUE``; the first may also be the command alone. Without a command,
    the engine is this program. OptionError if a word has a different form.
    """
    if words and "=" not in words[0]:
        words = [f"cmd={words[0]}", *words[1:]]
    engine = KeyValues.read(words, ("cmd", "option."), "--engine")
    return engine.get("cmd"), engine.named("option.")


def chosen_engine(arguments: argparse.Namespace) -> tuple[str | None, dict[str, str]]:
    """Return the command of ``--engine``, and the UCI options that the arguments set; see `read_engine` and
    `engine_options`.
    """
    command, own_options = read_engine(arguments.engine)
    return command, {**engine_options(arguments), **own_options}


def same_engine(known: str | None, name: str) -> str:
    """Return the name of a worker's engine; OptionError if it differs from `known`, the name of an earlier worker's."""
    if known not in (None, name):
        raise OptionError(f"the workers have different engines: {known} and {name}")
    return name


class _Protocol(chess.engine.UciProtocol):
    """python-chess's protocol without the lines that are too long. The time in which python-chess reads a line grows
    with the square of its length: for 1 MB, it blocks the event loop for half a minute.
    """

    def __init__(self) -> None:
        super().__init__()
        self._streams = {1: ShortLines(), 2: ShortLines()}  # standard output and standard error

    def send_line(self, line: str) -> None:
        """Send a line. The bytes of a file name that is not UTF-8 are sent unchanged."""
        assert self.transport is not None
        pipe: Any = self.transport.get_pipe_transport(0)
        pipe.write(f"{line}\n".encode(errors="surrogateescape"))

    def pipe_data_received(self, fd: int, data: bytes | str) -> None:
        """Receive output of the engine."""
        for line in self._streams[fd].feed(data.encode() if isinstance(data, str) else data):
            super().pipe_data_received(fd, line)


class UciEngine(Closing):
    """A UCI engine with these UCI options, which starts at its first search and is kept. `command` starts it; None
    means this program. It can be pickled before its first search.
    """

    def __init__(self, command: str | None, options: Mapping[str, str]) -> None:
        self._command, self._options = command, dict(options)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._working: asyncio.Task[Any] | None = None
        self._engine: tuple[asyncio.SubprocessTransport, chess.engine.UciProtocol] | None = None
        self._analysis: chess.engine.AnalysisResult | None = None
        self._error: chess.engine.EngineError | None = None  # set if the answer of the current search was wrong
        self._turn = asyncio.Lock()  # held by the current search
        self._idle = False  # whether the engine has answered its last search, so that it can be kept
        self._closed = False
        self.name: str | None = None  # the name that the engine reports, once it has been started

    def search(
        self,
        board: chess.Board,
        limit: chess.engine.Limit | None,
        on_info: Callable[[InfoDict], None],
        *,
        place: str,
        multipv: int | None = None,
        root_moves: Iterable[chess.Move] | None = None,
        game: object = None,
    ) -> chess.Move | None:
        """Search a position, which includes the moves that led to it, and return the best move.

        Without a limit, the search is endless. `on_info` is called in another thread with each line of information that
        has a score or moves. `place` names the position in error messages. If `game` differs from the `game` of the
        previous search, the engine is told of a new game.

        OptionError if the engine does not exist or refuses an option; EngineError if it cannot be started, dies, hangs
        or breaks the protocol. After an EngineError, the next search starts the engine again.
        """
        return self.begin(
            board, limit, on_info, place=place, multipv=multipv, root_moves=root_moves, game=game
        ).result()

    def begin(
        self,
        board: chess.Board,
        limit: chess.engine.Limit | None,
        on_info: Callable[[InfoDict], None],
        *,
        place: str,
        **more: Any,
    ) -> Future[chess.Move | None]:
        """Begin a search that works as `search` does. To stop it, cancel the returned future. The next search begins
        when this one has ended. An engine that does not answer after it was stopped is terminated.
        """
        with _handing_over:
            if self._closed:
                raise EngineError("no more searches: the run has ended")
            if self._loop is None:
                loop = asyncio.new_event_loop()
                loop.set_exception_handler(self._on_exception)
                start_thread(partial(_run, loop), "uci engine")
                self._loop = loop
            return asyncio.run_coroutine_threadsafe(self._search(board, limit, on_info, place, **more), self._loop)

    def close(self) -> None:
        """Terminate the engine, even in the middle of a search. Any thread may call this."""
        with _handing_over:
            loop, self._loop, self._closed = self._loop, None, True
        if loop is not None:
            asyncio.run_coroutine_threadsafe(self._break_off(), loop).result()
            loop.call_soon_threadsafe(loop.stop)

    async def _break_off(self) -> None:
        if self._working is not None:
            if not self._working.cancelling():  # a second cancellation would end its wait for the end of the engine
                self._working.cancel()
            await asyncio.wait([self._working])
        await self._end()

    async def _start(self) -> chess.engine.UciProtocol:
        command = resolve_command(self._command)
        name = command_line(command)
        try:
            async with asyncio.timeout(PATIENCE):
                # A separate process group: Ctrl-C reaches only this program, which then terminates the engine.
                self._engine = await _Protocol.popen(command, setpgrp=True)
                _, engine = self._engine
                await engine.initialize()
        except (OSError, TimeoutError, chess.engine.EngineError) as error:
            raise EngineError(f"cannot start {name}: {str(error) or 'no answer'}") from None
        self.name = engine.id.get("name", self._command or "knightadder")
        try:
            await engine.configure(self._configuration(engine))
        except chess.engine.EngineError as error:
            raise OptionError(f"{name}: {error}") from None
        return engine

    def _configuration(self, engine: chess.engine.UciProtocol) -> dict[str, str]:
        return self._options

    async def _end(self) -> None:
        if self._engine is None:
            return
        (transport, engine), self._engine = self._engine, None
        try:
            with contextlib.suppress(TimeoutError, chess.engine.EngineError):
                async with asyncio.timeout(_LAST_WORD):
                    await engine.quit()
        finally:  # a search that is cancelled twice, by its caller and by `close`, must not leave its engine behind
            if transport.get_returncode() is None:
                kill_tree(transport.get_pid())
            transport.close()
            # python-chess must notice the end of the engine before the event loop ends.
            await asyncio.shield(engine.returncode)

    async def _search(
        self,
        board: chess.Board,
        limit: chess.engine.Limit | None,
        on_info: Callable[[InfoDict], None],
        place: str,
        **more: Any,
    ) -> chess.Move | None:
        """Search a position. An engine that fails, or does not answer when it is stopped, is terminated."""
        async with self._turn:
            if self._closed:
                raise EngineError("no more searches: the run has ended")
            self._working, self._idle = asyncio.current_task(), False
            self._analysis = self._error = None
            try:
                engine = self._engine[1] if self._engine else await self._start()
                return await self._analyse(engine, board, limit, on_info, place, self._adapted(engine, more))
            finally:
                if not self._idle:
                    await self._end()

    def _adapted(self, engine: chess.engine.UciProtocol, more: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the arguments of a search, without those that the engine does not support."""
        return more

    async def _analyse(
        self,
        engine: chess.engine.UciProtocol,
        board: chess.Board,
        limit: chess.engine.Limit | None,
        on_info: Callable[[InfoDict], None],
        place: str,
        more: Mapping[str, Any],
    ) -> chess.Move | None:
        news = chess.engine.INFO_BASIC | chess.engine.INFO_SCORE | chess.engine.INFO_PV
        if not all(board.move_stack):  # python-chess sends no moves if one is a null move, but warns at each search
            board = board.copy(stack=False)
        try:
            allowed = None if limit is None else limit.time
            async with asyncio.timeout(_SILENCE if allowed is None else allowed + PATIENCE) as wait:
                starting = asyncio.create_task(engine.analysis(board, limit, info=news, **more))
                try:
                    analysis = self._analysis = await asyncio.shield(starting)
                    if self._error is not None:  # a quick engine can answer before the line above has ended
                        raise self._error
                    async for info in analysis:
                        if allowed is None:
                            wait.reschedule(asyncio.get_running_loop().time() + _SILENCE)
                        on_info(info)
                    best = (await analysis.wait()).move
                    self._idle = True
                    return best
                except asyncio.CancelledError:  # the caller has cancelled the search, or the time is up
                    self._idle = await _stop(starting)
                    raise
        except (TimeoutError, chess.engine.EngineError) as error:
            raise EngineError(f"the engine failed on {place}: {str(error) or 'no answer'}") from None

    def _on_exception(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """End the analysis with an error if the best move is illegal; python-chess tells only the event loop."""
        error = context.get("exception")
        if not isinstance(error, chess.engine.EngineError):
            loop.default_exception_handler(context)
        elif not self._idle and self._error is None:
            self._error = error
            if self._analysis is not None:
                with contextlib.suppress(asyncio.InvalidStateError):  # it has just ended
                    self._analysis.set_exception(error)


async def _stop(starting: asyncio.Task[chess.engine.AnalysisResult]) -> bool:
    """Stop a search that has begun or is about to; return whether the engine has answered in time."""

    async def stop() -> None:
        analysis = await starting
        analysis.stop()
        await analysis.wait()

    stopping = asyncio.create_task(stop())
    # A hanging engine is killed by the caller. The exception is retrieved, because otherwise asyncio would print it.
    stopping.add_done_callback(lambda task: task.cancelled() or task.exception())
    await asyncio.wait([stopping], timeout=_LAST_WORD)
    return stopping.done() and not stopping.cancelled() and stopping.exception() is None


def _run(loop: asyncio.AbstractEventLoop) -> None:
    with contextlib.closing(loop):
        loop.run_forever()
