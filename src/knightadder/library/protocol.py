"""The engine as python-chess's asynchronous `Protocol`, in this process: the same names, arguments and results."""

import asyncio
import contextlib
import os
import weakref
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Self, overload

import chess
import chess.engine
from chess.engine import (
    INFO_ALL,
    INFO_NONE,
    INFO_PV,
    INFO_SCORE,
    AnalysisResult,
    BestMove,
    ConfigMapping,
    ConfigValue,
    EngineTerminatedError,
    Info,
    InfoDict,
    Limit,
    Opponent,
    UciOptionMap,
)

from knightadder import __version__
from knightadder.engine.errors import EngineError
from knightadder.engine.info import Bound
from knightadder.engine.options import OPTIONS
from knightadder.library.board_engine import Engine
from knightadder.library.boards import Move, check_limit, seconds_of
from knightadder.library.engine_options import Setting
from knightadder.library.results import Line
from knightadder.library.stream import Stream

# Each analysis and each game sets this option; callers cannot.
_NOT_OFFERED = "UCI_AnalyseMode"
# The library's engine always computes expected wins, draws and losses. This option only says whether callers see them.
_SHOW_WDL = "UCI_ShowWDL"
NO_OPTIONS: ConfigMapping = MappingProxyType({})
CLOSED = "the engine has been closed"


def load() -> Engine:
    """Make an engine, or raise python-chess's error."""
    try:
        return Engine()
    except EngineError as error:
        raise chess.engine.EngineError(str(error)) from None


class UciProtocol(chess.engine.UciProtocol):
    """The coroutines of ``chess.engine.UciProtocol`` for an engine in this process; `popen` makes one.

    There are a few differences. Root moves may also be text. A call waits until earlier searches of `play` and
    `analyse` have ended, instead of cancelling them. As with python-chess, it stops an `analysis`. Pondering continues
    as the next search only if the limit is as expected; see `Engine.play`.

    ``options`` are the options that `configure` can set, as ``chess.engine.Option`` by name; case does not matter.
    ``id`` contains the engine's ``name`` and ``author``. ``returncode`` is a future, whose result is 0 when the engine
    has been closed.
    """

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self.initialized = True
        self.id = {"name": f"Knightadder {__version__}", "author": "the Knightadder authors"}
        for option in OPTIONS:
            if option.name != _NOT_OFFERED:
                self.options[option.name] = chess.engine.Option(
                    option.name, option.type, option.default, option.min, option.max, list(option.var)
                )
        for values in self.config, self.target_config:
            values.update({**_values_of(engine), _SHOW_WDL: False})
        self._engine = engine
        self._turn = asyncio.Lock()
        self._analysis: asyncio.Task[None] | None = None  # posts the lines of the last analysis
        self._stream: Stream | None = None
        self._closed = False
        self.connection_made(_Transport(self))

    @classmethod
    async def popen(
        cls, command: str | list[str] = "", *, setpgrp: bool = False, **popen_args: object
    ) -> tuple[asyncio.SubprocessTransport, Self]:
        """Make an engine, as `knightadder.popen` does. The arguments, which describe a process, are ignored."""
        protocol = cls(await asyncio.to_thread(load))
        assert protocol.transport is not None
        return protocol.transport, protocol

    async def initialize(self) -> None:
        """Do nothing, because a new engine is already initialized."""

    def debug(self, on: bool = True) -> None:
        """Do nothing, because there is no conversation to debug."""

    def send_line(self, line: str) -> None:
        """Raise an EngineError, because the engine does not read UCI commands."""
        raise chess.engine.EngineError("the engine runs within this process and does not read UCI commands")

    # --- commands --------------------------------------------------------------------------------------------------

    async def ping(self) -> None:
        """Wait until the engine is idle. A running `analysis` is stopped."""
        async with self._command():
            pass

    async def configure(self, options: ConfigMapping) -> None:
        """Set options by name for all further calls. The value ``None`` presses a button."""
        async with self._command(options):
            self.target_config.update({name: value for name, value in options.items() if value is not None})

    async def play(
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
        """Choose a move; cancelling the task ends the search.

        Parameters
        ----------
        board : chess.Board
            The position, with the moves that led to it.
        limit, ponder, root_moves
            As for `Engine.play`.
        game : object
            Any object that identifies the game. If it differs from the ``game`` of the last call, a new game begins.
        info : chess.engine.Info
            The values to include in ``PlayResult.info``.
        draw_offered, opponent
            Ignored.
        options : mapping
            Options for this call only.

        Raises
        ------
        chess.engine.EngineError
            If the position, a move or an option is invalid.
        chess.engine.EngineTerminatedError
            If the engine has been closed.
        """
        async with self._command(options):
            await self._enter(game)
            result = await self._engine.play_async(board, as_sent(limit), ponder=ponder, root_moves=root_moves)
        return chess.engine.PlayResult(result.move, result.ponder, self._info_of(result.line, info))

    @overload
    async def analyse(
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
    async def analyse(
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
    async def analyse(
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
    async def analyse(
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
        """Analyse a position until the limit is reached; cancelling the task ends the search.

        The parameters and errors are as for `play`. The result is a ``chess.engine.InfoDict`` or, with ``multipv``, a
        list with one for each of the best lines.
        """
        async with self._command(options):
            await self._enter(game)
            found = await self._engine.analyse_async(
                board, as_sent(limit), multipv=self._lines(multipv), root_moves=root_moves
            )
        infos = [self._info_of(line, info) for line in found.lines]
        return infos[0] if multipv is None else infos

    async def analysis(
        self,
        board: chess.Board,
        limit: Limit | None = None,
        *,
        multipv: int | None = None,
        game: object = None,
        info: Info = INFO_ALL,
        root_moves: Iterable[Move] | None = None,
        options: ConfigMapping = NO_OPTIONS,
    ) -> AnalysisResult:
        """Start an analysis and return immediately. The parameters and errors are as for `play`.

        It runs until the limit is reached, ``stop`` is called on the result, its ``with`` block is left, or the next
        call begins. Without a limit it does not end by itself.
        """
        async with self._command(options):
            await self._enter(game)
            stream = self._engine.stream(
                board,
                None if limit in (None, Limit()) else as_sent(limit),
                multipv=self._lines(multipv),
                root_moves=root_moves,
            )
            result = _AnalysisResult(stop=stream.stop)
            self._stream, self._analysis = stream, self.loop.create_task(self._post(stream, result, info))
        return result

    async def quit(self) -> None:
        """Close the engine. A running search returns what it has found; waiting calls raise an error."""
        self.refuse_calls()
        async with self._turn:
            self._engine.close()  # not in a thread: when the interpreter ends, there are no new threads
        if self._analysis is not None:
            await asyncio.wait([self._analysis])
        if not self.returncode.done():
            self.returncode.set_result(0)

    def refuse_calls(self) -> None:
        """Stop the running search soon, and let waiting calls raise an error. Any thread may call this."""
        self._closed = True  # first, because a waiting call gets its turn as soon as the search ends
        self._engine.stop()

    # --- one command at a time -------------------------------------------------------------------------------------

    @contextlib.asynccontextmanager
    async def _command(self, options: ConfigMapping = NO_OPTIONS) -> AsyncIterator[None]:
        """Wait for this call's turn, stop the running analysis, and set the options."""
        async with self._turn:
            with self._errors_of_python_chess():
                self._check_open()
                if self._stream is not None:
                    self._stream.stop()
                    await self._stream.result_async()
                    self._stream = None
                await self._set(options)
                self._check_open()
                yield

    async def _enter(self, game: object) -> None:
        """Begin a new game if `game` differs from the last one. The first game needs no preparation."""
        if not self.first_game and game != self.game:
            await self._in_thread(self._engine.new_game)
        self.game, self.first_game = game, False

    @contextlib.contextmanager
    def _errors_of_python_chess(self) -> Iterator[None]:
        try:
            yield
        except EngineError as error:
            kind = EngineTerminatedError if self._closed else chess.engine.EngineError
            raise kind(str(error)) from None

    async def _set(self, options: ConfigMapping) -> None:
        """Set the options of a call, and reset those of the last call. If there is an error, none is set."""
        wanted: UciOptionMap[ConfigValue] = UciOptionMap(self.target_config.items())
        wanted.update(options)
        changed: dict[str, ConfigValue] = {}
        for name, value in wanted.items():
            option = self.options.get(name)
            if option is None:
                raise chess.engine.EngineError(f"engine does not support option {name} (available: {self._names()})")
            if option.is_managed():
                raise chess.engine.EngineError(f"cannot set {name}, which each call sets itself")
            if value is None and option.type != "button":
                raise chess.engine.EngineError(f"option {name} needs a value")
            value = option.parse(value)
            if option.type == "check":
                value = bool(value)  # python-chess leaves 0 as it is
            if value is None or value != self.config.get(name):
                changed[option.name] = value
        if changed:
            await self._in_thread(self._apply, changed)

    def _apply(self, changed: Mapping[str, ConfigValue]) -> None:
        settings: dict[str, Setting] = {name: "" if value is None else value for name, value in changed.items()}
        settings.pop(_SHOW_WDL, None)
        try:
            if settings:
                self._engine.configure(settings)
        except EngineError:  # options before the invalid one have been set; the next call resets them
            self.config.update(_values_of(self._engine))
            raise
        self.config.update({name: value for name, value in changed.items() if value is not None})

    def _check_open(self) -> None:
        if self._closed:
            raise EngineTerminatedError(CLOSED)

    async def _in_thread(self, work: Callable[..., object], *arguments: object) -> None:
        """Do slow work in a thread and wait for its end, even if the caller is cancelled."""
        working = asyncio.ensure_future(asyncio.to_thread(work, *arguments))
        try:
            await asyncio.shield(working)
        except asyncio.CancelledError:
            await asyncio.wait([working])
            raise
        self._check_open()

    # --- results ---------------------------------------------------------------------------------------------------

    def _names(self) -> str:
        return ", ".join(name for name, option in self.options.items() if not option.is_managed())

    def _lines(self, multipv: int | None) -> int:
        return 1 if multipv is None else int(self.options["MultiPV"].parse(multipv) or 1)

    async def _post(self, stream: Stream, result: AnalysisResult, info: Info) -> None:
        """Post the lines of a search as they arrive, and its end."""
        try:
            async for line in stream:
                result.post(self._info_of(line, info))
            found = await stream.result_async()
        except EngineError as error:  # the process was forked
            result.set_exception(EngineTerminatedError(str(error)))
        else:
            result.set_finished(BestMove(found.best_move, found.ponder))

    def _info_of(self, line: Line, selected: Info) -> InfoDict:
        if not selected:
            return InfoDict()
        info = line.to_info()
        if not self.config[_SHOW_WDL]:
            del info["wdl"]
        if not selected & INFO_PV or not info["pv"]:
            del info["pv"]
        if not selected & INFO_SCORE:
            del info["score"]
        elif line.bound is Bound.LOWER:
            info["lowerbound"] = True  # type: ignore[typeddict-unknown-key]  # python-chess gives it, undeclared
        elif line.bound is Bound.UPPER:
            info["upperbound"] = True  # type: ignore[typeddict-unknown-key]
        return info


class _AnalysisResult(AnalysisResult):
    """A result whose end remains known if a caller that waits for it is cancelled, for example after a timeout."""

    async def wait(self) -> BestMove:
        return await asyncio.shield(self._finished)


class _Transport(asyncio.SubprocessTransport):
    """Stands for the process of an engine, which is this process. Closing it closes the engine."""

    def __init__(self, protocol: UciProtocol) -> None:
        super().__init__()
        # The protocol refers to this object. Without a circle, an engine that is dropped is freed immediately.
        self._protocol = weakref.ref(protocol)
        self._returncode = protocol.returncode
        self._closing = False
        self._quit: asyncio.Task[None] | None = None

    def get_pid(self) -> int:
        return os.getpid()

    def get_returncode(self) -> int | None:
        return 0 if self._returncode.done() else None

    def get_pipe_transport(self, fd: int) -> None:
        return None

    def is_closing(self) -> bool:
        return self._closing

    def close(self) -> None:
        """Close the engine soon. Any thread may call this."""
        protocol = self._protocol()
        if self._closing or protocol is None:
            return
        self._closing = True
        protocol.refuse_calls()
        loop, running = protocol.loop, None
        with contextlib.suppress(RuntimeError):  # there is no event loop in this thread
            running = asyncio.get_running_loop()
        if running is loop:
            self._end(protocol)
        else:
            loop.call_soon_threadsafe(self._end, protocol)

    def _end(self, protocol: UciProtocol) -> None:
        self._quit = protocol.loop.create_task(protocol.quit())

    def terminate(self) -> None:
        self.close()

    def kill(self) -> None:
        self.close()

    def send_signal(self, signal: int) -> None:
        self.close()


def _values_of(engine: Engine) -> dict[str, ConfigValue]:
    """Return the values of an engine's options, which buttons do not have."""
    return {name: option.value for name, option in engine.options.items() if option.value is not None}


def as_sent(limit: Limit) -> Limit:
    """Return the limit that python-chess would send to a process.

    Fractions of counts are dropped. Counts and times that are too small are raised to the minimum. Zero moves to go
    mean sudden death. The clock of one side stands for both.
    """
    check_limit(limit)
    white, black = limit.white_clock, limit.black_clock
    return replace(
        limit,
        time=None if limit.time is None else max(seconds_of("time", limit.time), 0),
        depth=_count("depth", limit.depth, 1),
        nodes=_count("nodes", limit.nodes, 1),
        mate=_count("mate", limit.mate, 1),
        remaining_moves=_count("remaining_moves", limit.remaining_moves, 0) or None,
        white_clock=black if white is None else white,
        black_clock=white if black is None else black,
    )


def _count(name: str, number: float | None, least: int) -> int | None:
    if number is None:
        return None
    try:
        return max(int(number), least)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be a number, not {number!r:.60}") from None


async def popen(*, options: ConfigMapping | None = None) -> tuple[asyncio.SubprocessTransport, UciProtocol]:
    """Make an engine for coroutines, as ``chess.engine.popen_uci`` does, but in this process.

    ``options`` are values of UCI options by name. A ``chess.engine.EngineError`` is raised if one is invalid, or the
    engine cannot be loaded.

    Returns
    -------
    tuple of asyncio.SubprocessTransport and UciProtocol
        The second item is the engine. Closing the first closes the engine, too.
    """
    transport, protocol = await UciProtocol.popen()
    if options:
        await protocol.configure(options)
    return transport, protocol
