"""Solves problems with a UCI engine, as a task for the workers of a pool."""

import asyncio
import contextlib
import json
import re
import shlex
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import chess.engine

from knightadder.engine.errors import EngineError, OptionError
from knightadder.foreign import parse_json
from knightadder.workshop.problems import Problem
from knightadder.workshop.uci_client import resolve_command

# Seconds over its time limit after which an engine counts as hung; its first start may take long to compile.
PATIENCE = 120.0
# Seconds without any ``info`` after which an engine counts as hung if its time is not limited. Deep in a search, some
# engines say nothing for minutes.
SILENCE = 900.0
_LAST_WORD = 2.0  # seconds for an engine to stop or quit before it is killed
_SCORE = re.compile(r"(#)?([+-]?\d{1,9})")  # python-chess's text

_handing_over = threading.Lock()  # so that nothing is handed to an event loop that is about to end


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment of a search: depth in plies, and seconds and nodes since its start."""

    depth: int = 0
    seconds: float = 0.0
    nodes: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """An engine's answer to a problem.

    Attributes
    ----------
    name, fen : str
        Name and position of the problem.
    wanted, played : str
        The solution and the engine's move, in algebraic notation.
    score : str
        Score in centipawns, or ``#n`` for a mate, for the side to move.
    end : Moment
        The end of the search.
    solved : bool
        Whether the engine's move is right.
    found : Moment or None
        If solved, the end of the first iteration from which on the best move stayed right.
    points, maximum : int
        Points of the engine's move and of the best move, in suites with points; else zero.
    """

    name: str
    fen: str
    wanted: str
    played: str
    score: str
    end: Moment
    solved: bool
    found: Moment | None
    points: int
    maximum: int


@dataclass(frozen=True, slots=True)
class _Told:
    """What a `Solver` tells of an engine and its search."""

    engine: str
    played: str | None
    score: str
    end: Moment
    found: Moment | None


class Solver:
    """The task that solves a problem, with an engine that each worker starts for its first one, and keeps.

    Parameters
    ----------
    command : str or None
        The command that starts a UCI engine; None for this program.
    options : dict of str to str
        Its UCI options.
    limit : chess.engine.Limit
        Time, nodes or depth for each problem.
    problems : sequence of Problem
        The problems.
    """

    def __init__(
        self, command: str | None, options: dict[str, str], limit: chess.engine.Limit, problems: Sequence[Problem]
    ) -> None:
        self._command, self._options, self._limit, self._problems = command, options, limit, problems
        self._loop: asyncio.AbstractEventLoop | None = None
        self._working: asyncio.Task[Any] | None = None
        self._engine: tuple[asyncio.SubprocessTransport, chess.engine.UciProtocol] | None = None
        self._analysis: chess.engine.AnalysisResult | None = None
        self._closed = False

    def __call__(self, index: int) -> bytes:
        """Return the engine's answer to the problem with an index, for `read_answer`.

        Raises
        ------
        OptionError
            If there is no such engine, or it refuses an option.
        EngineError
            If it cannot be started, dies, hangs or breaks the protocol.
        """
        with _handing_over:
            if self._closed:
                raise EngineError("the run has ended")
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._loop.set_exception_handler(self._on_exception)
                threading.Thread(target=_run, args=(self._loop,), name="suite", daemon=True).start()
            future = asyncio.run_coroutine_threadsafe(self._answer(index), self._loop)
        return json.dumps(future.result()).encode()

    def close(self) -> None:
        """End the engine, also in the middle of a search; callable from another thread."""
        with _handing_over:
            loop, self._loop, self._closed = self._loop, None, True
        if loop is not None:
            asyncio.run_coroutine_threadsafe(self._break_off(), loop).result()
            loop.call_soon_threadsafe(loop.stop)

    async def _answer(self, index: int) -> dict[str, Any]:
        """Return the engine's name, its move and the moments of its search; an engine that fails is ended."""
        self._working = asyncio.current_task()
        try:
            if self._engine is None:
                await self._start()
            assert self._engine is not None
            _, engine = self._engine
            answer = await self._solve(engine, self._problems[index])
            return {"engine": engine.id.get("name", self._command or "knightadder"), **answer}
        except BaseException:
            await self._end()
            raise

    async def _break_off(self) -> None:
        if self._working is not None:
            self._working.cancel()
            await asyncio.wait([self._working])
        await self._end()

    async def _start(self) -> None:
        """Start the engine."""
        command = resolve_command(self._command)
        name = shlex.join(command)
        try:
            async with asyncio.timeout(PATIENCE):
                # A separate process group: Ctrl-C reaches only this program, which then ends the engine.
                self._engine = await chess.engine.popen_uci(command, setpgrp=True)
        except (OSError, TimeoutError, chess.engine.EngineError) as error:
            raise EngineError(f"cannot start {name}: {str(error) or 'no answer'}") from None
        try:
            await self._engine[1].configure(self._options)
        except chess.engine.EngineError as error:
            raise OptionError(f"{name}: {error}") from None

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

    async def _solve(self, engine: chess.engine.UciProtocol, problem: Problem) -> dict[str, Any]:
        """Return an engine's move, searched as the start of a new game, and the moments of its search."""
        board = problem.board
        found: Moment | None = None
        end, score, mate = Moment(), "-", None
        news = chess.engine.INFO_BASIC | chess.engine.INFO_SCORE | chess.engine.INFO_PV
        try:
            allowed = self._limit.time
            async with asyncio.timeout(SILENCE if allowed is None else allowed + PATIENCE) as wait:
                analysis = self._analysis = await engine.analysis(board, self._limit, game=object(), info=news)
                try:
                    async for info in analysis:
                        if allowed is None:
                            wait.reschedule(asyncio.get_running_loop().time() + SILENCE)
                        line = info.get("pv")
                        if not line or info.get("multipv", 1) > 1:
                            continue
                        end = Moment(info.get("depth", 0), info.get("time", 0.0), info.get("nodes", 0))
                        if "score" in info:
                            own = info["score"].pov(board.turn)
                            mate, score = own.mate(), str(own)
                        found = (found or end) if problem.solved_by(line[0], mate) else None
                    played = (await analysis.wait()).move
                except asyncio.CancelledError:  # the end of the run, or a timeout
                    analysis.stop()
                    answering = asyncio.create_task(analysis.wait())
                    # A hanging engine is killed by the caller. Retrieve the exception, or asyncio would print it.
                    answering.add_done_callback(lambda task: task.cancelled() or task.exception())
                    await asyncio.wait([answering], timeout=_LAST_WORD)
                    raise
        except (TimeoutError, chess.engine.EngineError) as error:
            reason = f"{problem.name}, {board.fen()}: {str(error) or 'no answer'}"
            raise EngineError(f"the engine failed on {reason}") from None
        return {
            "played": played and played.uci(),
            "score": score,
            "end": asdict(end),
            "found": found and asdict(found),
        }

    def _on_exception(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """End the analysis with an error if the best move is illegal: python-chess tells only the event loop."""
        error = context.get("exception")
        if isinstance(error, chess.engine.EngineError) and self._analysis is not None:
            self._analysis.set_exception(error)
        else:
            loop.default_exception_handler(context)


def read_answer(data: bytes, problem: Problem) -> tuple[str, Answer]:
    """Return the engine's name and its answer to a problem from what a `Solver` gave.

    Raises
    ------
    EngineError
        If it is not the answer to this problem.
    """
    try:
        told: _Told = parse_json(data, _Told)
        mate = _mate(told.score)
        played = None if told.played is None else _move(told.played, problem)
    except ValueError:
        raise EngineError(f"a worker returned a damaged answer to {problem.name}") from None
    solved = problem.solved_by(played, mate)
    return told.engine, Answer(
        name=problem.name,
        fen=problem.board.fen(),
        wanted=problem.wanted,
        played=problem.board.san(played) if played else "(none)",
        score=told.score,
        end=told.end,
        solved=solved,
        found=(told.found or told.end) if solved else None,
        points=problem.points.get(played, 0) if played else 0,
        maximum=problem.maximum,
    )


def _move(name: str, problem: Problem) -> chess.Move:
    move = problem.board.parse_uci(name)
    if not move:  # a null move
        raise ValueError
    return move


def _mate(score: str) -> int | None:
    """Return the mate in the text of a score; ValueError if it is no score."""
    if score == "-":
        return None
    match = _SCORE.fullmatch(score)
    if match is None:
        raise ValueError
    return int(match[2]) if match[1] else None


def _run(loop: asyncio.AbstractEventLoop) -> None:
    """Run an event loop until it is stopped."""
    with contextlib.closing(loop):
        loop.run_forever()
