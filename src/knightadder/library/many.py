"""Analysis of many positions, by several threads within the process."""

import os
import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import chess
import chess.engine
import numpy as np
from numpy.typing import NDArray

from knightadder.core.native.processors import processors
from knightadder.engine.errors import PositionError
from knightadder.engine.limits import Limits
from knightadder.engine.notation import parse_uci
from knightadder.engine.short_search import ShortSearch
from knightadder.engine.tablebases.registry import SHIPPED, Tablebases
from knightadder.library.arrays import pack
from knightadder.library.boards import Position, board_of, limits_of, position_of, whole
from knightadder.library.engine import MOST_LINES, Folders
from knightadder.library.results import Analysis, line_of
from knightadder.library.shared import tables_of
from knightadder.library.stream import logger

_Item = TypeVar("_Item")

_MOST_HASH = 33_554_432  # MiB, the maximum of the option Hash
_MOST_MEGABYTES = 16  # default maximum of the hash table
_NODES_A_MEGABYTE = 1 << 15  # half as many as it has entries
_LOOK_UP = 0.5  # seconds; where the system does not interrupt a waiting thread, it checks for Ctrl-C this often


def analyse_many(
    boards: Iterable[Position],
    limit: chess.engine.Limit,
    *,
    workers: int | None = None,
    multipv: int = 1,
    hash_mb: int | None = None,
    evaluation: str | None = None,
    syzygy_path: Folders | None = None,
    on_result: Callable[[int, Analysis], object] | None = None,
) -> list[Analysis]:
    """Analyse many positions, several at a time.

    Each position is searched by one thread, as a new `Engine` with the same hash table would search it: nothing is kept
    from one position to the next. So unless the limit is a time, the analyses depend only on the position, the limit
    and the other settings, not on the number of threads. An exception, such as Ctrl-C, ends all searches.

    Parameters
    ----------
    boards : iterable of chess.Board or str
        Boards, whose moves since the last capture or pawn move count for repetitions; FENs; or ``"startpos"``.
    limit : chess.engine.Limit
        For each position: a depth, a number of nodes, a mate, or a time.
    workers : int, optional
        Number of threads; one for each processor by default.
    multipv : int
        Number of best lines to find.
    hash_mb : int, optional
        Size of each thread's hash table in MiB. By default it depends on the limit of nodes, and is 16 at most.
    evaluation : str, optional
        ``"classical"``, ``"pesto"`` or ``"nnue"``; the default of the option ``EvalType`` if missing.
    syzygy_path : path or several, optional
        Folders of Syzygy tablebases.
    on_result : callable, optional
        Called in the caller's thread with the index and the analysis of each finished position.

    Returns
    -------
    list of Analysis
        In the order of the boards.

    Raises
    ------
    PositionError
        If a position or a move on its board is illegal; the text gives its index, counted from 0.
    OptionError
        If there is no such evaluation, its network cannot be used, or there is too little memory.
    ValueError, TypeError
        If the limit sets none of these, or a number is not possible.
    """
    limits = limits_of(chess.Board(), limit)
    if limits.wtime is not None or limits.btime is not None:
        raise ValueError("positions that are analysed have no clock: limit their time instead")
    multipv = whole("multipv", multipv, 1, MOST_LINES)
    megabytes = _megabytes(limits) if hash_mb is None else whole("hash_mb", hash_mb, 1, _MOST_HASH)
    threads = processors() if workers is None else whole("workers", workers, 1)
    tasks, records = _tasks(boards)
    tables = tables_of(evaluation)
    threads = min(threads, len(tasks))
    tablebases = _open_tablebases(tables, syzygy_path)
    analysts = [_Analyst(ShortSearch(tables, tablebases, megabytes), limits, multipv) for _ in range(threads)]
    results: dict[int, Analysis] = {}

    def take(index: int, result: Analysis) -> None:
        results[index] = result
        if on_result is not None:
            on_result(index, result)

    _share_out(analysts, tasks, records, take)
    return [results[index] for index in range(len(tasks))]


@dataclass(frozen=True, slots=True)
class _Task:
    """The part of a task that is not in the position's record: the moves played from it, and what they led to.

    Attributes
    ----------
    moves : array of int64
        The moves, as squares and promotion.
    fen : str
        The position to analyse.
    chess960 : bool
        Whether castling is written as king takes rook.
    """

    moves: NDArray[np.int64]
    fen: str
    chess960: bool


class _Analyst:
    """Analyses positions one after another, in a thread of its own."""

    def __init__(self, search: ShortSearch, limits: Limits, lines: int) -> None:
        self._search, self._limits, self._lines = search, limits, lines
        self._stop = np.zeros(1, np.uint64)
        self._cancelled = False

    def analyse(self, task: _Task, records: NDArray[np.void], index: int) -> Analysis:
        played = self._search.set_up(records, index, task.moves)
        if played < len(task.moves):
            move = int(task.moves[played])
            name = chess.Move(move & 63, move >> 6 & 63, move >> 12 or None).uci()
            raise PositionError(f"illegal move on the board of position {index}: {name}")
        # A stop flag for each search: a late timer must not end the next search.
        stop = self._stop = np.zeros(1, np.uint64)
        if self._cancelled:
            stop[0] = 1
        with _ends_after(self._limits.movetime, stop):
            infos, result = self._search.search(self._limits, self._lines, stop, task.chess960)
        lines = tuple(line_of(info, task.fen) for info in infos)
        best, reply = [chess.Move.from_uci(name) if name else None for name in (result.best_move, result.ponder)]
        return Analysis(lines, best, reply)

    def cancel(self) -> None:
        """End the search that is running, or the next one, soon; callable from any thread."""
        self._cancelled = True
        self._stop[0] = 1


def _open_tablebases(tables: np.record, folders: Folders | None) -> Tablebases:
    """Open the tablebases in these folders, and those that come with the engine."""
    if folders is None:
        folders = ()
    elif isinstance(folders, str | os.PathLike):
        folders = os.fspath(folders).split(os.pathsep)
    tablebases = Tablebases(tables, [*map(Path, folders), SHIPPED])
    for problem in tablebases.problems:
        logger.info("%s", problem)
    return tablebases


def _megabytes(limits: Limits) -> int:
    """Choose the size of the hash table: clearing a large one takes as long as searching thousands of nodes."""
    if not limits.nodes:
        return _MOST_MEGABYTES
    return max(1, min(-(-limits.nodes // _NODES_A_MEGABYTE), _MOST_MEGABYTES))


def _tasks(boards: Iterable[Position]) -> tuple[list[_Task], NDArray[np.void]]:
    """Convert boards to packed positions and the moves from there."""
    roots: list[str] = []
    tasks = []
    if isinstance(boards, str):
        raise TypeError("several positions are wanted, not one FEN")
    for number, position in enumerate(boards):
        what = f"position {number}"
        try:
            board = board_of(position, what)
            root, moves = position_of(board, what)
        except PositionError:
            pack(roots)  # names an earlier position if one is illegal as well
            raise
        roots.append(root)
        tasks.append(_Task(_encoded(moves), board.fen(), board.chess960))
    return tasks, pack(roots)


def _encoded(names: Iterable[str]) -> NDArray[np.int64]:
    # Text that is not a move becomes a1a1, which is never legal.
    squares = [parse_uci(name) or (0, 0, 0) for name in names]
    return np.array([source | target << 6 | promotion << 12 for source, target, promotion in squares], np.int64)


@contextmanager
def _ends_after(milliseconds: int | None, stop: NDArray[np.uint64]) -> Iterator[None]:
    """Set a stop flag when the time is up, if the time is limited."""
    if milliseconds is None:
        yield
        return
    timer = threading.Timer(milliseconds / 1000, stop.fill, (1,))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _share_out(
    analysts: Sequence[_Analyst],
    tasks: Sequence[_Task],
    records: NDArray[np.void],
    take: Callable[[int, Analysis], None],
) -> None:
    """Run each analyst in a thread until all tasks are done, and pass the results on in the caller's thread."""
    waiting = deque(range(len(tasks)))
    done: queue.SimpleQueue[tuple[int, Analysis] | BaseException] = queue.SimpleQueue()

    def work(analyst: _Analyst) -> None:
        try:
            while True:
                try:
                    index = waiting.popleft()
                except IndexError:
                    return
                done.put((index, analyst.analyse(tasks[index], records, index)))
        except BaseException as error:  # raised again in the caller's thread
            done.put(error)

    threads = [threading.Thread(target=work, args=(analyst,), name="analysis", daemon=True) for analyst in analysts]
    try:
        for thread in threads:
            thread.start()
        for _ in tasks:
            outcome = _wait_for(done)
            if isinstance(outcome, BaseException):
                raise outcome
            take(*outcome)
    finally:
        waiting.clear()
        for analyst in analysts:
            analyst.cancel()
        for thread in threads:
            if thread.ident is not None:
                thread.join()


def _wait_for(done: "queue.SimpleQueue[_Item]") -> _Item:
    while True:
        try:
            return done.get(timeout=_LOOK_UP)
        except queue.Empty:
            continue
