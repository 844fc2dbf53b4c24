"""Solves problems with UCI engines, several at once."""

import asyncio
import contextlib
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import chess.engine

from knightadder.engine.errors import EngineError, OptionError
from knightadder.workshop.epd import Problem

# Seconds over its time limit after which an engine counts as hung; its first start may take long to compile.
PATIENCE = 120.0
_LAST_WORD = 2.0  # seconds for an engine to stop or quit before it is killed


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


OnAnswer: TypeAlias = Callable[[int, Answer], None]


class Solver:
    """Engines that solve problems.

    Parameters
    ----------
    command : sequence of str
        The command that starts a UCI engine.
    options : dict of str to str
        Its UCI options.
    limit : chess.engine.Limit
        Time, nodes or depth for each problem.
    """

    def __init__(self, command: Sequence[str], options: dict[str, str], limit: chess.engine.Limit) -> None:
        self._command = list(command)
        self._options = options
        self._limit = limit
        self._analyses: dict[object, chess.engine.AnalysisResult] = {}

    async def solve(self, problems: Sequence[Problem], concurrency: int, on_answer: OnAnswer) -> str:
        """Solve problems with several engines at once, and return the engine's name.

        Parameters
        ----------
        problems : sequence of Problem
            The problems.
        concurrency : int
            Maximum number of engines.
        on_answer : callable
            Called with the index of each finished problem, and the answer.

        Returns
        -------
        str
            The engine's name.

        Raises
        ------
        OptionError
            If the engine refuses an option.
        EngineError
            If it cannot be started, dies, hangs or breaks the protocol.
        """
        asyncio.get_running_loop().set_exception_handler(self._on_exception)
        waiting = iter(range(len(problems)))
        try:
            async with asyncio.TaskGroup() as group:
                workers = [
                    group.create_task(self._work(problems, waiting, on_answer))
                    for _ in range(min(concurrency, len(problems)))
                ]
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None
        return workers[0].result()

    async def _work(self, problems: Sequence[Problem], waiting: Iterator[int], on_answer: OnAnswer) -> str:
        """Solve waiting problems with one engine, and return its name."""
        name = shlex.join(self._command)
        try:
            async with asyncio.timeout(PATIENCE):
                # A separate process group: Ctrl-C reaches only this program, which then stops the engine.
                transport, engine = await chess.engine.popen_uci(self._command, setpgrp=True)
        except (OSError, TimeoutError, chess.engine.EngineError) as error:
            raise EngineError(f"cannot start {name}: {str(error) or 'no answer'}") from None
        try:
            try:
                await engine.configure(self._options)
            except chess.engine.EngineError as error:
                raise OptionError(f"{name}: {error}") from None
            for index in waiting:
                on_answer(index, await self._solve(engine, problems[index]))
            return engine.id.get("name", name)
        finally:
            with contextlib.suppress(TimeoutError, chess.engine.EngineError):
                async with asyncio.timeout(_LAST_WORD):
                    await engine.quit()
            transport.close()  # kills the engine if necessary; python-chess must notice that before the event loop ends
            await asyncio.shield(engine.returncode)

    async def _solve(self, engine: chess.engine.UciProtocol, problem: Problem) -> Answer:
        """Return an engine's answer to a problem, searched as the start of a new game."""
        board = problem.board
        found: Moment | None = None
        end, score, mate = Moment(), "-", None
        news = chess.engine.INFO_BASIC | chess.engine.INFO_SCORE | chess.engine.INFO_PV
        try:
            async with asyncio.timeout(None if self._limit.time is None else self._limit.time + PATIENCE):
                analysis = self._analyses[engine] = await engine.analysis(board, self._limit, game=object(), info=news)
                try:
                    async for info in analysis:
                        line = info.get("pv")
                        if not line or info.get("multipv", 1) > 1:
                            continue
                        end = Moment(info.get("depth", 0), info.get("time", 0.0), info.get("nodes", 0))
                        if "score" in info:
                            own = info["score"].pov(board.turn)
                            mate, score = own.mate(), str(own)
                        found = (found or end) if problem.solved_by(line[0], mate) else None
                    played = (await analysis.wait()).move
                except asyncio.CancelledError:  # Ctrl-C, a timeout, or the failure of another engine
                    analysis.stop()
                    answering = asyncio.create_task(analysis.wait())
                    # A hanging engine is killed by the caller. Retrieve the exception, or asyncio would print it.
                    answering.add_done_callback(lambda task: task.cancelled() or task.exception())
                    await asyncio.wait([answering], timeout=_LAST_WORD)
                    raise
        except (TimeoutError, chess.engine.EngineError) as error:
            reason = f"{problem.name}, {board.fen()}: {str(error) or 'no answer'}"
            raise EngineError(f"the engine failed on {reason}") from None
        solved = problem.solved_by(played, mate)
        return Answer(
            name=problem.name,
            fen=board.fen(),
            wanted=problem.wanted,
            played=board.san(played) if played else "(none)",
            score=score,
            end=end,
            solved=solved,
            found=(found or end) if solved else None,
            points=problem.points.get(played, 0) if played else 0,
            maximum=problem.maximum,
        )

    def _on_exception(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """End the analysis with an error if the best move is illegal: python-chess tells only the event loop."""
        error, analysis = context.get("exception"), self._analyses.get(context.get("protocol"))
        if isinstance(error, chess.engine.EngineError) and analysis is not None:
            analysis.set_exception(error)
        else:
            loop.default_exception_handler(context)
