"""A stand-in for the engine while the core is being compiled: the rules and a small search, on python-chess.

It does what the protocols ask of an `Engine`, and then hands all of it over to the real one.
"""

import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import chess

from knightadder.core.board.fen import START, WRONG_SIDE_IN_CHECK, parse_fen, refusal, write_fen
from knightadder.engine.ending import Ending
from knightadder.engine.errors import EngineError, PositionError
from knightadder.engine.info import Bound, CurrentMove, Info, Message, Result, Score
from knightadder.engine.limits import Limits
from knightadder.engine.options import Options
from knightadder.engine.standby_search import MATE, Line, StandbySearch
from knightadder.engine.timeman import allot

if TYPE_CHECKING:
    from knightadder.engine.engine import Engine

_NOTE = "the core is still being compiled: until then a much weaker search chooses the moves"
_AFTER_STOP = 0.1  # seconds that the search may use when it is told to stop
_LATEST_CHANGE = 0.5  # part of a move's time after which the real engine no longer takes the search over


@dataclass(slots=True)
class _Task:
    """A search: what was asked for, and how far it is."""

    limits: Limits
    on_info: Callable[[Info | CurrentMove | Message], None]
    on_done: Callable[[Result], None]
    pondering: bool
    since: float  # when its own clock started; all times are in seconds
    ends: float = math.inf  # without a limit of time the search only waits: for the core, for a ponder hit or for stop
    stopped: bool = False
    cancelled: bool = False  # the real engine takes the search over
    done: bool = False
    woken: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)  # the search's thread


class Standby:
    """Stands in for an `Engine`; methods with the names of its methods do what those do.

    Parameters
    ----------
    clock : callable
        Gives the time in seconds.

    Attributes
    ----------
    options : Options
        Settings; to be changed by `set_option`.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.options = Options()
        self._clock = clock
        self._settings: dict[str, str | None] = {}
        self._task: _Task | None = None
        self.set_position()

    def hand_over(self, engine: "Engine") -> list[str] | None:
        """Pass options, position and search on to the engine.

        Returns
        -------
        list of str or None
            Messages for the user, a line each; None if a search is so far that it must end first.
        """
        task = self._task
        if task is not None and self.searching:
            used = (self._clock() - task.since) / (task.ends - task.since)
            if task.stopped or used >= _LATEST_CHANGE:
                return None
            task.cancelled = True
            task.woken.set()
            self.wait()
        messages = []
        for name, text in self._settings.items():
            try:
                messages += engine.set_option(name, text)
            except EngineError as error:
                messages.append(str(error))
        try:
            engine.set_position(self._fen, self._moves)
        except EngineError as error:
            messages.append(str(error))
        if task is not None and not task.done:
            limits, spent = task.limits, 0 if task.pondering else round((self._clock() - task.since) * 1000)
            rest = {
                name: value - spent
                for name in ("wtime", "btime", "movetime")
                if (value := getattr(limits, name)) is not None
            }
            engine.go(replace(limits, ponder=task.pondering, **rest), task.on_info, task.on_done)
        return messages

    # --- settings and position --------------------------------------------------------------------------------------

    def set_option(self, name: str, text: str | None) -> list[str]:
        """Set an option, which takes effect in the real engine; OptionError if it does not accept the value."""
        self._settings[self.options.set(name, text).name] = text
        return []

    def new_game(self) -> None:
        """Do nothing: nothing has been learnt."""

    @property
    def ready(self) -> bool:
        """Whether a search would begin at once: always."""
        return True

    def hurry(self) -> None:
        """Do nothing: it is always ready."""

    def set_position(self, fen: str | None = None, moves: Sequence[str] = ()) -> tuple[str, ...]:
        """Set up a position and play moves from it, as the engine does; PositionError if one is not legal."""
        text = START if fen is None else fen
        try:
            setup = parse_fen(text)  # as the engine will read it
            board = chess.Board(write_fen(setup, True), chess960=True)
        except ValueError as error:
            raise PositionError(refusal(text, error)) from None
        if board.was_into_check():
            raise PositionError(refusal(text, WRONG_SIDE_IN_CHECK))
        for name in moves:
            try:
                move = board.parse_uci(name)
            except ValueError:
                move = chess.Move.null()
            if not move:
                raise PositionError(f"illegal move: {name}")
            board.push(move)
        self._board, self._fen, self._moves = board, fen, list(moves)
        return setup.notes

    def fen(self) -> str:
        """Return the position's FEN."""
        return self._board.fen()

    def diagram(self) -> str:
        """Return the position as text of several lines."""
        return f"{self._board}\n\nFen: {self.fen()}"

    def legal_moves(self) -> list[str]:
        """Return the legal moves in UCI notation."""
        return [self._board.uci(move, chess960=self.options.chess960) for move in self._board.legal_moves]

    def ending(self) -> Ending | None:
        """Return how the game has ended; None while it goes on."""
        board = self._board
        if not any(board.generate_legal_moves()):
            return Ending.CHECKMATE if board.is_check() else Ending.STALEMATE
        if board.is_fifty_moves():
            return Ending.FIFTY_MOVES
        if board.is_repetition(3):
            return Ending.REPETITION
        return Ending.DEAD_POSITION if board.is_insufficient_material() else None

    def book_moves(self) -> dict[str, int]:
        """Return no moves: the book is opened by the real engine."""
        return {}

    # --- searching --------------------------------------------------------------------------------------------------

    @property
    def searching(self) -> bool:
        """Whether a search has not yet delivered its result."""
        return self._task is not None and not self._task.ended.is_set()

    def go(
        self,
        limits: Limits,
        on_info: Callable[[Info | CurrentMove | Message], None],
        on_done: Callable[[Result], None],
    ) -> None:
        """Start a search and return at once."""
        task = self._task = _Task(limits, on_info, on_done, limits.ponder, self._clock())
        if not limits.ponder:
            self._start_clock(task)
        threading.Thread(target=self._run, args=(task, self._board.copy()), name="standby", daemon=True).start()

    def stop(self) -> None:
        """End the search soon; nothing happens when idle."""
        task = self._task
        if task is not None and not task.stopped:
            task.stopped = True
            task.ends = min(task.ends, self._clock() + _AFTER_STOP)
            task.woken.set()

    def ponderhit(self) -> None:
        """Continue the search on the engine's own clock."""
        task = self._task
        if task is not None and task.pondering and not task.stopped:
            task.pondering, task.since = False, self._clock()
            self._start_clock(task)
            task.woken.set()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the search to end, at most so many seconds, and say whether it has."""
        if self._task is not None:
            self._task.ended.wait(timeout)
        return not self.searching

    def close(self) -> None:
        """End a running search and wait for its result."""
        self.stop()
        self.wait()

    def _start_clock(self, task: _Task) -> None:
        """Work out when the search must end. A limit of depth or nodes does not let it exceed the clock."""
        timed = replace(task.limits, depth=None, nodes=None, mate=None)
        budget = allot(timed, int(not self._board.turn), self.options.move_overhead, self._board.ply())
        share = budget.hard if budget.soft is None else budget.soft
        if share is not None and budget.hard is not None:
            task.ends = task.since + min(share, budget.hard) / 1000

    def _run(self, task: _Task, board: chess.Board) -> None:
        try:
            self._find_move(task, board)
        finally:
            task.ended.set()

    def _find_move(self, task: _Task, board: chess.Board) -> None:
        while task.ends == math.inf and not task.cancelled:
            task.woken.wait()
            task.woken.clear()
        if task.cancelled:
            return
        task.on_info(Message(_NOTE))
        result = self._search(task, board)
        if not task.cancelled:
            task.done = True
            task.on_done(result)

    def _search(self, task: _Task, board: chess.Board) -> Result:
        notation = self.options.chess960
        legal = list(board.legal_moves)
        wanted = [move for move in legal if board.uci(move, chess960=notation) in task.limits.searchmoves]
        if not legal:
            return Result(None, None, None)
        search = StandbySearch(board, lambda: task.cancelled or self._clock() >= task.ends)
        root, info = board.copy(stack=False), None
        began = self._clock()
        for line in search.deepen(wanted or legal, task.limits.depth):
            names = _write(line.moves, root.copy(), notation)
            info = _report(line, names, search.nodes, self._clock() - began)
            task.on_info(info)
        names = _write(search.best_line or (wanted or legal)[:1], root, notation)
        # A reply that ends the game is no move to ponder on. The line is longer where the game goes on.
        return Result(names[0], names[1] if len(names) > 2 else None, info)


def _write(moves: Sequence[chess.Move], board: chess.Board, chess960: bool) -> list[str]:
    """Write consecutive moves in UCI notation."""
    names = []
    for move in moves:
        names.append(board.uci(move, chess960=chess960))
        board.push(move)
    return names


def _report(line: Line, names: list[str], nodes: int, seconds: float) -> Info:
    plies = MATE - abs(line.score)
    score = Score.of_mate(plies, line.score > 0) if plies <= MATE // 2 else Score(cp=line.score)
    speed, milliseconds = round(nodes / max(seconds, 1e-3)), round(seconds * 1000)
    depth = max(line.depth, len(names))
    return Info(line.depth, depth, 1, score, Bound.EXACT, None, nodes, speed, 0, 0, milliseconds, tuple(names))
