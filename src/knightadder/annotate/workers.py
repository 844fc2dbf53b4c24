"""Evaluates games in parallel: in threads of this process, each with an engine of its own."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

import chess
import chess.engine

from knightadder.annotate.evaluation import Analyst, Evaluation, evaluate
from knightadder.engine.errors import EngineError

# Where the system does not interrupt a waiting thread, it checks for Ctrl-C this often.
_LOOK_UP_SECONDS = 0.5

# Time between attempts to stop searches: a search may begin just after its engine was stopped.
_STOP_AGAIN_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Job:
    """A game to evaluate: its number, and its last position with all moves."""

    number: int
    board: chess.Board

    def __len__(self) -> int:
        """Count the positions of the game."""
        return len(self.board.move_stack) + 1


class _Stopped(Exception):
    """The work is no longer needed."""


def evaluate_games(
    jobs: Iterable[Job],
    analysts: Sequence[Analyst],
    limit: chess.engine.Limit,
    multipv: int,
    on_game: Callable[[int, list[Evaluation | None] | EngineError], None],
    on_position: Callable[[Job], None] = lambda job: None,
) -> None:
    """Evaluate games, as many at once as there are analysts.

    Parameters
    ----------
    jobs : iterable of Job
        The games; a few are read ahead.
    analysts : sequence of Analyst
        The engines.
    limit : chess.engine.Limit
        Limit of the search of each position.
    multipv : int
        Number of best lines.
    on_game : callable
        Called in this thread, in the order in which games are finished, with the number of each game and its
        evaluations, or the error that ended it.
    on_position : callable
        Called in any thread after each position.

    Raises
    ------
    BaseException
        Whatever `jobs` or `on_game` raise, and KeyboardInterrupt, soon after the searches have been told to stop.
    """
    idle: queue.SimpleQueue[Analyst] = queue.SimpleQueue()
    for analyst in analysts:
        idle.put(analyst)
    stopping = threading.Event()

    def work(job: Job) -> list[Evaluation | None]:
        def after_position() -> None:
            on_position(job)
            if stopping.is_set():
                raise _Stopped

        analyst = idle.get()
        try:
            return evaluate(job.board, analyst, limit, multipv, after_position)
        finally:
            idle.put(analyst)

    running: dict[Future[list[Evaluation | None]], int] = {}

    def collect(most: int) -> None:
        while len(running) > most:
            for future in wait(running, _LOOK_UP_SECONDS, FIRST_COMPLETED).done:
                number = running.pop(future)
                try:
                    result: list[Evaluation | None] | EngineError = future.result()
                except EngineError as error:
                    result = error
                on_game(number, result)

    with ThreadPoolExecutor(len(analysts)) as pool:
        try:
            for job in jobs:
                running[pool.submit(work, job)] = job.number
                collect(2 * len(analysts))
            collect(0)
        except BaseException:
            stopping.set()
            begun = [future for future in running if not future.cancel()]
            while wait(begun, _STOP_AGAIN_SECONDS).not_done:
                for analyst in analysts:
                    analyst.stop()
            raise
