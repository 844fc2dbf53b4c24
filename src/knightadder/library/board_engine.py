"""The class `Engine`: plays and analyses on python-chess's boards, in this process."""

import asyncio
import atexit
import contextlib
import os
import sys
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from time import monotonic
from typing import TYPE_CHECKING, TypeAlias

import chess
import chess.engine

from knightadder.closing import Closing, Unique
from knightadder.engine.errors import EngineError
from knightadder.engine.limits import Limits
from knightadder.engine.loader import load_engine
from knightadder.engine.options import MAX_LINES, Options
from knightadder.library.boards import (
    Move,
    Position,
    bitboards_of,
    board_of,
    check_limit,
    limits_of,
    position_of,
    root_of,
    whole,
)
from knightadder.library.engine_options import Folders, Option, Setting, folders_of, options_of, texts_of
from knightadder.library.loading import load_core, logger
from knightadder.library.results import Analysis, PlayResult
from knightadder.library.stream import LOST, Feed, Stream

if TYPE_CHECKING:
    from knightadder.engine.engine import Engine as Core

_THREADS_END = 1.0  # maximum seconds to wait for the threads of a search that has ended or been stopped

_loading = threading.RLock()
_loaded = False
_engines: "weakref.WeakSet[Engine]" = weakref.WeakSet()

# A caller is a thread and the task that runs in it, if any.
_Caller: TypeAlias = tuple[int, "weakref.ref[asyncio.Task[object]] | None"]


@dataclass(frozen=True, slots=True)
class _Pondering:
    """A search during the opponent's time: its first position, the expected limits of the next move, and its lines."""

    position: tuple[str, tuple[str, ...]]
    limits: Limits
    feed: Feed


class Engine(Closing, Unique):
    """An engine that runs one search at a time.

    If the engine is searching for a different thread or task, a call waits until that search has ended. A search ends
    when its engine is no longer referenced. Several engines search in parallel, because a search releases the GIL.

    The first engine in a process loads the core. If the core's sources have changed, it first compiles them, which
    takes about 20 seconds and is logged by the logger ``knightadder``.

    Parameters
    ----------
    hash_mb : int
        Size of the transposition table in MiB.
    threads : int
        Number of search threads.
    evaluation : str, optional
        ``"classical"``, ``"pesto"`` or ``"nnue"`` (default: the default of the option ``EvalType``).
    syzygy_path : path or several, optional
        Folders of Syzygy tablebases, which must exist.
    options : mapping, optional
        Values of other UCI options by name, as for `configure`.

    Raises
    ------
    OptionError
        If a value is not accepted, or a folder does not exist.
    EngineError
        If the engine cannot be loaded.
    """

    def __init__(
        self,
        *,
        hash_mb: int = 16,
        threads: int = 1,
        evaluation: str | None = None,
        syzygy_path: Folders | None = None,
        options: Mapping[str, Setting] | None = None,
    ) -> None:
        chosen = Options()
        chosen.set("Hash", str(hash_mb))
        chosen.set("Threads", str(threads))
        if evaluation is not None:
            chosen.set("EvalType", str(evaluation))
        chosen.set("UCI_ShowWDL", "true")
        settings = options or {}
        if syzygy_path is not None:
            settings = {**settings, "SyzygyPath": os.pathsep.join(folders_of(syzygy_path))}
        self._core = _load(chosen)
        self._drop = weakref.finalize(self, self._core.stop)  # called at the latest when the interpreter ends
        self._turn = threading.Lock()
        self._feed: Feed | None = None  # the feed of the last search
        self._caller: _Caller | None = None  # the caller that began it
        self._pondering: _Pondering | None = None
        self._closed = self._lost = False
        _engines.add(self)
        for line in self.configure(settings):
            logger.info("%s", line)
        if self._core.problem and evaluation is not None:
            # Raises an error, because only the default evaluation has a fallback.
            self.configure({"EvalType": evaluation})
        elif self._core.problem:
            logger.warning("%s", self._core.problem)

    @property
    def problem(self) -> str | None:
        """A line that says why the built-in network cannot be used; the classical evaluation then replaces it."""
        return self._core.problem

    @property
    def options(self) -> Mapping[str, Option]:
        """The options that `configure` can set, with their current values, by name (case does not matter)."""
        return chess.engine.UciOptionMap(options_of(self._core.options).items())

    def configure(self, options: Mapping[str, Setting]) -> list[str]:
        """Set UCI options by name, such as ``{"UCI_LimitStrength": True, "UCI_Elo": 1600}``; `options` lists all names.

        Returns
        -------
        list of str
            Messages about the options, for example about damaged tablebases. Each is one line.

        Raises
        ------
        OptionError
            If an option does not exist, or does not accept the value; earlier options in the mapping are then already
            set. ``MultiPV``, ``Ponder``, ``UCI_AnalyseMode``, ``UCI_Chess960`` and ``UCI_ShowWDL`` cannot be set,
            because each call sets them.
        EngineError
            If the engine is still searching for the same thread, or has been closed.
        """
        texts = texts_of(options)
        with self._its_turn(_caller()):
            lines = [line for name, text in texts.items() for line in self._core.set_option(name, text)]
            self._core.get_ready()
            return lines

    def new_game(self) -> None:
        """Clear everything that earlier searches have learnt."""
        with self._its_turn(_caller()):
            self._core.new_game()
            self._core.get_ready()

    def play(
        self,
        board: Position,
        limit: chess.engine.Limit,
        *,
        ponder: bool = False,
        root_moves: Iterable[Move] | None = None,
    ) -> PlayResult:
        """Choose a move.

        Parameters
        ----------
        board : chess.Board or str
            The position: a board with the moves that led to it, a FEN, or ``"startpos"``.
        limit : chess.engine.Limit
            A time, a depth, a number of nodes, or the clocks of a game.
        ponder : bool
            Whether to continue to search after the answer, for the move after the expected reply. If the board of the
            next call has that reply, and the limit is the same, this search becomes the search of that call. The clocks
            may differ by the time that this call has taken.
        root_moves : iterable of chess.Move or str, optional
            The moves to choose from. Text is in algebraic or UCI notation, such as ``"Nf3"`` or ``"g1f3"``.

        Raises
        ------
        PositionError
            If the position or a root move is illegal.
        EngineError
            If the engine is still searching for the same thread, or has been closed.
        ValueError, TypeError
            If the limit, or one of its values, is invalid.
        """
        began = monotonic()
        board = board_of(board)
        stream = self._search_for_move(board, limit, root_moves, _caller())
        return self._answer(stream.result(), board, limit, ponder, monotonic() - began)

    async def play_async(
        self,
        board: Position,
        limit: chess.engine.Limit,
        *,
        ponder: bool = False,
        root_moves: Iterable[Move] | None = None,
    ) -> PlayResult:
        """Choose a move; see `play`. Cancelling the task ends the search."""
        began = monotonic()
        board = board_of(board)
        caller = await self._turn_of_task()
        stream = self._search_for_move(board, limit, root_moves, caller)
        return self._answer(await stream.result_async(), board, limit, ponder, monotonic() - began)

    def analyse(
        self,
        board: Position,
        limit: chess.engine.Limit,
        *,
        multipv: int = 1,
        root_moves: Iterable[Move] | None = None,
    ) -> Analysis:
        """Analyse a position. The board, the root moves and the errors are the same as for `play`.

        Parameters
        ----------
        limit : chess.engine.Limit
            A time, a depth or a number of nodes.
        multipv : int
            Number of best lines to find, 1 to 256.
        """
        check_limit(limit)
        return self.stream(board, limit, multipv=multipv, root_moves=root_moves).result()

    async def analyse_async(
        self,
        board: Position,
        limit: chess.engine.Limit,
        *,
        multipv: int = 1,
        root_moves: Iterable[Move] | None = None,
    ) -> Analysis:
        """Analyse a position; see `analyse`. Cancelling the task ends the search."""
        check_limit(limit)
        await self._turn_of_task()
        return await self.stream(board, limit, multipv=multipv, root_moves=root_moves).result_async()

    def stream(
        self,
        board: Position,
        limit: chess.engine.Limit | None = None,
        *,
        multipv: int = 1,
        root_moves: Iterable[Move] | None = None,
    ) -> Stream:
        """Start an analysis and return immediately; its lines can be read as they arrive. Arguments and errors are as
        for `analyse`. Without a limit, the analysis runs until `Stream.stop` or the end of a ``with`` block.
        """
        board = board_of(board)
        limits = limits_of(board, limit, root_moves)
        caller = _caller()
        with self._its_turn(caller):
            return Stream(self._begin(board, limits, caller, multipv, analysing=True), self)

    def stop(self) -> None:
        """Stop the running search soon, if there is one. Any thread may call this."""
        if self._feed:
            self._feed.stop()

    def __repr__(self) -> str:
        searching = self._feed is not None and self._feed.analysis is None
        state = "closed" if self._closed or self._lost else "searching" if searching else "idle"
        return f"<Engine: {state}>"

    def close(self) -> None:
        """Stop the running search and close the engine, which cannot be used afterwards."""
        self._closed = True
        self.stop()  # waiting calls then notice that the engine is closed
        with self._turn:
            if not self._lost and not sys.is_finalizing():
                self._core.close()
            self._drop.detach()

    # --- one search at a time --------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _its_turn(self, caller: _Caller) -> Iterator[None]:
        """Wait until the engine is idle, and reserve it for this caller during the block."""
        self._check_own_search(caller)
        with self._turn:
            self._check_open()
            if self._pondering:
                self._pondering.feed.stop()
                self._pondering = None
            if self._feed:
                self._feed.result()
                self._check_open()
            self._core.wait()
            yield

    def _check_own_search(self, caller: _Caller) -> None:
        """Raise an EngineError if the caller's thread has begun a search that goes on. Waiting for it, or for another
        thread that waits for it, could last forever, because only the caller can end it.
        """
        self._check_open()
        # Other threads may change these attributes at any moment, so they are read in the opposite order of the writes.
        if self._pondering or (feed := self._feed) is None or feed.ending:
            return
        if self._caller is not None and self._caller[0] == caller[0]:
            raise EngineError("the engine is searching")

    async def _turn_of_task(self) -> _Caller:
        """Wait for the searches of other tasks; return the caller."""
        caller = _caller()
        while (feed := self._feed) and not (feed.ending or self._pondering or self._caller == caller):
            await feed.result_async()
        return caller

    def _check_open(self) -> None:
        if self._lost:
            raise EngineError(LOST)
        if self._closed:
            raise EngineError("the engine has been closed")
        if sys.is_finalizing():
            raise EngineError("no more searches: the interpreter is ending")

    def _end_search(self) -> None:
        if not self._lost:
            self._core.stop()
            self._core.wait(_THREADS_END)

    def _prepare_fork(self) -> None:
        """Wait for the threads of a search that has delivered its result. They end within milliseconds."""
        if self._feed and self._feed.analysis is not None:
            self._core.wait(_THREADS_END)

    def _survive_fork(self) -> None:
        """Make the engine unusable in a process that was forked during a search, because threads are not forked."""
        if self._turn.locked() or not self._core.wait(0):
            self._turn, self._lost = threading.Lock(), True
            self._drop.detach()
            if self._feed:
                self._feed.lose()

    # --- searching -------------------------------------------------------------------------------------------------

    def _search_for_move(
        self, board: chess.Board, limit: chess.engine.Limit, root_moves: Iterable[Move] | None, caller: _Caller
    ) -> Stream:
        check_limit(limit)
        limits = limits_of(board, limit, root_moves)
        self._check_own_search(caller)
        with self._turn:
            pondering = self._pondering
            if (
                pondering
                and pondering.position == position_of(board)
                and pondering.limits.may_become(limits, int(not board.turn))
            ):
                self._caller, self._pondering = caller, None
                if not pondering.feed.ending:
                    self._core.ponderhit()
                    return Stream(pondering.feed, self)
        with self._its_turn(caller):
            return Stream(self._begin(board, limits, caller), self)

    def _begin(
        self, board: chess.Board, limits: Limits, caller: _Caller, multipv: int = 1, *, analysing: bool = False
    ) -> Feed:
        fen, root, moves = root_of(board)
        multipv = whole("multipv", multipv, 1, MAX_LINES)
        for name, value in ("UCI_Chess960", board.chess960), ("UCI_AnalyseMode", analysing), ("MultiPV", multipv):
            if self._core.options[name] != value:
                self._core.set_option(name, str(value).lower())
        numbers = bitboards_of(root)
        if numbers is None or not self._core.set_bitboards(numbers, root.fullmove_number, moves):
            self._core.set_position(root.fen(), moves)  # raises an error that names the fault
        feed = Feed(fen)
        try:
            feed.follow(self._core.go(limits, feed.report, feed.finish))
        except BaseException:  # for example Ctrl-C after the search has begun
            self._core.stop()
            raise
        self._caller, self._feed = caller, feed
        return feed

    def _answer(
        self, analysis: Analysis, board: chess.Board, limit: chess.engine.Limit, ponder: bool, seconds: float
    ) -> PlayResult:
        move, reply = analysis.best_move, analysis.ponder
        if ponder and move and reply:
            expected = board.copy()
            expected.push(move)
            expected.push(reply)
            limits = limits_of(board, _after_move(limit, board.turn, seconds))
            if self._turn.acquire(blocking=False):  # otherwise another caller is waiting for the engine
                try:
                    if not self._closed and self._feed and self._feed.analysis is analysis:  # no other search has begun
                        self._core.wait()
                        feed = self._begin(expected, replace(limits, ponder=True), _caller())
                        self._pondering = _Pondering(position_of(expected), limits, feed)
                except Exception as error:  # the caller must get the move
                    logger.warning("the engine cannot ponder: %s: %s", type(error).__name__, error)
                finally:
                    self._turn.release()
        return PlayResult(move, reply, analysis.best)


def _prepare_fork() -> None:
    for engine in list(_engines):
        engine._prepare_fork()


def _survive_fork() -> None:
    for engine in list(_engines):
        engine._survive_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_prepare_fork, after_in_child=_survive_fork)
    os.register_at_fork(before=_loading.acquire, after_in_parent=_loading.release, after_in_child=_loading.release)


@atexit.register
def _end_searches() -> None:
    """Stop all searches before the interpreter ends. Afterwards, their threads do not run, so a wait would not end."""
    for engine in list(_engines):
        engine._end_search()


def _caller() -> _Caller:
    task = None
    with contextlib.suppress(RuntimeError):  # there is no event loop
        task = asyncio.current_task()
    return threading.get_ident(), None if task is None else weakref.ref(task)


def _after_move(limit: chess.engine.Limit, mover: chess.Color, seconds: float) -> chess.engine.Limit:
    """Return the limit that is expected for the next search of the side that has just moved."""
    if limit.remaining_moves is not None:
        limit = replace(limit, remaining_moves=limit.remaining_moves - 1 or None)
    if mover == chess.WHITE and limit.white_clock is not None:
        return replace(limit, white_clock=limit.white_clock - seconds + (limit.white_inc or 0))
    if mover == chess.BLACK and limit.black_clock is not None:
        return replace(limit, black_clock=limit.black_clock - seconds + (limit.black_inc or 0))
    return limit


def _load(options: Options) -> "Core":
    """Return a new engine. The first call also loads the compiled core, and lets it search a little."""
    global _loaded
    load_core()
    with _loading:
        if not _loaded:
            core = load_engine(options, logger.info)
            _loaded = True
            return core
    from knightadder.engine.engine import Engine as Core

    try:
        return Core(options)
    except MemoryError:
        raise EngineError("the engine cannot be loaded: not enough memory") from None
