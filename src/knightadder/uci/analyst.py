"""Another UCI engine that searches positions, by python-chess: for the workers of a pool."""

from __future__ import annotations

import asyncio
import contextlib
import shlex
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import chess
import chess.engine
from chess.engine import InfoDict, PovWdl, Wdl

from knightadder.arguments import KeyValues
from knightadder.closing import Closing
from knightadder.engine.errors import EngineError, OptionError
from knightadder.engine.info import Bound
from knightadder.library.results import Analysis, Line
from knightadder.uci.client import resolve_command

# Seconds over its time limit after which an engine counts as hung; its first start may take long to compile.
PATIENCE = 120.0
# Seconds without any ``info`` after which an engine counts as hung if its time is not limited. Deep in a search, some
# engines say nothing for minutes.
SILENCE = 900.0
_LAST_WORD = 2.0  # seconds for an engine to stop or quit before it is killed
_SHOW_WDL = "UCI_ShowWDL"

_handing_over = threading.Lock()  # so that nothing is handed to an event loop that is about to end

T = TypeVar("T")


def read_engine(words: Sequence[str]) -> tuple[str | None, dict[str, str]]:
    """Return the command and the options of the argument ``--engine`` of a command that uses one engine.

    The words are ``cmd=COMMAND`` and ``option.NAME=VALUE``. Without a command, the engine is this program. OptionError
    if a word has a different form.
    """
    engine = KeyValues.read(words, ("cmd", "option."), "--engine")
    return engine.get("cmd"), engine.named("option.")


class UciEngine(Closing):
    """A UCI engine that is started for its first search, and kept. It can be pickled before that.

    `command` starts the engine; None means this program. `options` are its UCI options.
    """

    def __init__(self, command: str | None, options: Mapping[str, str]) -> None:
        self._command, self._options = command, dict(options)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._working: asyncio.Task[Any] | None = None
        self._engine: tuple[asyncio.SubprocessTransport, chess.engine.UciProtocol] | None = None
        self._analysis: chess.engine.AnalysisResult | None = None
        self._closed = False
        self.name: str | None = None  # the name that the engine reports, once it has been started

    def search(
        self,
        board: chess.Board,
        limit: chess.engine.Limit,
        on_info: Callable[[InfoDict], None],
        *,
        place: str,
        multipv: int | None = None,
        root_moves: Iterable[chess.Move] | None = None,
        game: object = None,
    ) -> chess.Move | None:
        """Search a position, which includes the moves that led to it, and return the best move.

        `on_info` is called in a different thread with each line of information that has a score or moves. `place` names
        the position in the message of an error. The engine is told of a new game if `game` differs from that of the
        search before. OptionError if there is no such engine, or it refuses an option; EngineError if it cannot be
        started, dies, hangs or breaks the protocol. Then it is started again for the next search.
        """
        with _handing_over:
            if self._closed:
                raise EngineError("the run has ended")
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._loop.set_exception_handler(self._on_exception)
                threading.Thread(target=_run, args=(self._loop,), name="uci engine", daemon=True).start()
            work = self._search(board, limit, on_info, place, multipv=multipv, root_moves=root_moves, game=game)
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
        return future.result()

    def close(self) -> None:
        """End the engine, even in the middle of a search; callable from a different thread."""
        with _handing_over:
            loop, self._loop, self._closed = self._loop, None, True
        if loop is not None:
            asyncio.run_coroutine_threadsafe(self._break_off(), loop).result()
            loop.call_soon_threadsafe(loop.stop)

    async def _break_off(self) -> None:
        if self._working is not None:
            self._working.cancel()
            await asyncio.wait([self._working])
        await self._end()

    async def _start(self) -> chess.engine.UciProtocol:
        """Start the engine."""
        command = resolve_command(self._command)
        name = shlex.join(command)
        try:
            async with asyncio.timeout(PATIENCE):
                # A separate process group: Ctrl-C reaches only this program, which then ends the engine.
                self._engine = await chess.engine.popen_uci(command, setpgrp=True)
        except (OSError, TimeoutError, chess.engine.EngineError) as error:
            raise EngineError(f"cannot start {name}: {str(error) or 'no answer'}") from None
        _, engine = self._engine
        self.name = engine.id.get("name", self._command or "knightadder")
        try:
            await engine.configure(self._configuration(engine))
        except chess.engine.EngineError as error:
            raise OptionError(f"{name}: {error}") from None
        return engine

    def _configuration(self, engine: chess.engine.UciProtocol) -> dict[str, str]:
        """Return the options to set when the engine has been started."""
        return self._options

    async def _end(self) -> None:
        """End the engine, if there is one."""
        if self._engine is None:
            return
        (transport, engine), self._engine = self._engine, None
        with contextlib.suppress(TimeoutError, chess.engine.EngineError):
            async with asyncio.timeout(_LAST_WORD):
                await engine.quit()
        transport.close()  # kills the engine if necessary; python-chess must notice that before the event loop ends
        await asyncio.shield(engine.returncode)

    async def _search(
        self,
        board: chess.Board,
        limit: chess.engine.Limit,
        on_info: Callable[[InfoDict], None],
        place: str,
        **more: Any,
    ) -> chess.Move | None:
        """Search a position; an engine that fails is ended."""
        self._working = asyncio.current_task()
        try:
            engine = self._engine[1] if self._engine else await self._start()
            return await self._analyse(engine, board, limit, on_info, place, more)
        except BaseException:
            await self._end()
            raise

    async def _analyse(
        self,
        engine: chess.engine.UciProtocol,
        board: chess.Board,
        limit: chess.engine.Limit,
        on_info: Callable[[InfoDict], None],
        place: str,
        more: Mapping[str, Any],
    ) -> chess.Move | None:
        news = chess.engine.INFO_BASIC | chess.engine.INFO_SCORE | chess.engine.INFO_PV
        try:
            allowed = limit.time
            async with asyncio.timeout(SILENCE if allowed is None else allowed + PATIENCE) as wait:
                analysis = self._analysis = await engine.analysis(board, limit, info=news, **more)
                try:
                    async for info in analysis:
                        if allowed is None:
                            wait.reschedule(asyncio.get_running_loop().time() + SILENCE)
                        on_info(info)
                    return (await analysis.wait()).move
                except asyncio.CancelledError:  # the end of the run, or a timeout
                    analysis.stop()
                    answering = asyncio.create_task(analysis.wait())
                    # A hanging engine is killed by the caller. Retrieve the exception, or asyncio would print it.
                    answering.add_done_callback(lambda task: task.cancelled() or task.exception())
                    await asyncio.wait([answering], timeout=_LAST_WORD)
                    raise
        except (TimeoutError, chess.engine.EngineError) as error:
            raise EngineError(f"the engine failed on {place}: {str(error) or 'no answer'}") from None

    def _on_exception(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """End the analysis with an error if the best move is illegal: python-chess tells only the event loop."""
        error = context.get("exception")
        if isinstance(error, chess.engine.EngineError) and self._analysis is not None:
            self._analysis.set_exception(error)
        else:
            loop.default_exception_handler(context)


def _run(loop: asyncio.AbstractEventLoop) -> None:
    """Run an event loop until it is stopped."""
    with contextlib.closing(loop):
        loop.run_forever()


class UciAnalyst(UciEngine):
    """A UCI engine that analyses as `knightadder.Engine` does; parameters and errors are as for `UciEngine`.

    The option ``UCI_ShowWDL`` is switched on where the engine has it, and ``Hash`` left out where it has none.
    """

    def __init__(self, command: str, options: Mapping[str, str]) -> None:
        super().__init__(command, options)
        self._game = object()

    def _configuration(self, engine: chess.engine.UciProtocol) -> dict[str, str]:
        options = self._options | {_SHOW_WDL: "true"}
        return {key: value for key, value in options.items() if key in engine.options or key not in ("Hash", _SHOW_WDL)}

    def new_game(self) -> None:
        """Let the next search begin a new game."""
        self._game = object()

    def analyse(
        self,
        board: chess.Board,
        limit: chess.engine.Limit,
        *,
        multipv: int = 1,
        root_moves: Iterable[chess.Move] | None = None,
    ) -> Analysis:
        """Analyse a position in which the game is not over, or some of its moves.

        Return the lines of the deepest iteration that has all of them, without bounds if possible. The errors are the
        same as for `UciEngine.search`, and an EngineError if the engine gives no score.
        """
        told: list[InfoDict] = []
        moves = None if root_moves is None else list(root_moves)
        place = board.fen()
        best = self.search(board, limit, told.append, place=place, multipv=multipv, root_moves=moves, game=self._game)
        lines = [info for info in told if info.get("pv") and "score" in info]
        exact = [info for info in lines if "lowerbound" not in info and "upperbound" not in info]
        wanted = min(multipv, len(moves) if moves is not None else board.legal_moves.count())
        ranked = _last_complete(exact, wanted) or _last_complete(lines, 1)
        if not ranked:
            raise EngineError(f"the engine failed on {place}: no score")
        found = tuple(_line_of(rank, info, place) for rank, info in enumerate(ranked, 1))
        return Analysis(found, best or found[0].move, found[0].pv[1] if len(found[0].pv) > 1 else None)


def _last_complete(infos: Iterable[InfoDict], wanted: int) -> list[InfoDict]:
    """Return the lines of the last iteration that has the wanted number of lines, or else the most."""
    iterations: dict[int, dict[int, InfoDict]] = {}
    for info in infos:
        iterations.setdefault(info.get("depth", 0), {})[info.get("multipv", 1)] = info
    found: dict[int, InfoDict] = {}
    for _, lines in sorted(iterations.items()):
        if len(lines) >= min(wanted, len(found) or 1):
            found = lines
    return [found[rank] for rank in sorted(found)]


def _line_of(rank: int, info: InfoDict, fen: str) -> Line:
    score, wdl = info["score"], info.get("wdl")
    return Line(
        rank=rank,
        depth=info.get("depth", 0),
        seldepth=info.get("seldepth", 0),
        score=score,
        bound=Bound.LOWER if "lowerbound" in info else Bound.UPPER if "upperbound" in info else Bound.EXACT,
        wdl=wdl or PovWdl(Wdl(0, 0, 0), score.turn),
        nodes=info.get("nodes", 0),
        nps=info.get("nps", 0),
        hashfull=info.get("hashfull", 0),
        tbhits=info.get("tbhits", 0),
        time=info.get("time", 0.0),
        pv=tuple(info["pv"]),
        fen=fen,
    )
