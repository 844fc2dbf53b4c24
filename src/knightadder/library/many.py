"""Analysis of many positions, by several threads in this process or by an executor."""

import itertools
import math
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import closing
from dataclasses import dataclass
from functools import cache, partial
from typing import TypeAlias

import chess
import chess.engine
import numpy as np
from numpy.typing import NDArray

from knightadder.core.api.deepening import forget
from knightadder.core.board.moves import kind_of, source_of, target_of
from knightadder.core.worker import WORKER
from knightadder.engine.capacity import processors
from knightadder.engine.errors import PositionError
from knightadder.engine.evaluator import evaluation_of
from knightadder.engine.game import Game
from knightadder.engine.hashtable import HashTable
from knightadder.engine.info import CurrentMove, Info, Message, Result
from knightadder.engine.limits import Limits
from knightadder.engine.notation import encode_moves
from knightadder.engine.options import MAX_HASH_MB, MAX_LINES, Options
from knightadder.engine.running_search import Player, Search
from knightadder.engine.tablebases.registry import SHIPPED, Tablebases
from knightadder.library.arrays import Positions, pack_from, positions_in, remembering
from knightadder.library.blocks import Elsewhere, Threads, results_elsewhere
from knightadder.library.boards import Position, board_of, limits_without_clock, position_of, whole
from knightadder.library.engine_options import Folders, folders_of
from knightadder.library.loading import logger
from knightadder.library.results import Analysis, analysis_of, line_of
from knightadder.library.shared import Stock, tables_of
from knightadder.native.records import new_record

_MOST_MEGABYTES = 16  # default maximum of the hash table
_NODES_A_MEGABYTE = 1 << 15  # half the number of entries in a megabyte
_DEEPEST = 20  # plies; deeper searches get the largest table in any case

# A block takes a fraction of a second: much longer than handing it out, but not so long that other workers wait.
_MOST_POSITIONS = 64  # maximum number of positions in a block
_NODES_HERE, _NODES_AWAY = 50_000, 200_000  # nodes per block, for threads and for an executor
_NODES_A_SECOND = 1_000_000  # rough speed, for time limits


def analyse_many(
    boards: Positions,
    limit: chess.engine.Limit,
    *,
    workers: int | None = None,
    multipv: int = 1,
    hash_mb: int | None = None,
    evaluation: str | None = None,
    syzygy_path: Folders | None = None,
    illegal: Analysis | None = None,
    executor: Elsewhere = None,
    on_result: Callable[[int, Analysis], object] | None = None,
) -> list[Analysis]:
    """Analyse many positions, several at a time.

    Each position is searched by one thread, as by a new `Engine` with the same hash size, so the searches are
    independent. Unless the limit is a time, the analyses depend only on the position, the limit and the other settings,
    not on the number of threads or on the executor. An exception, such as Ctrl-C, stops all searches in threads. An
    executor still finishes the searches that it has begun.

    Parameters
    ----------
    boards : iterable of chess.Board or str, or array
        As for `evaluate_many`. A board's moves since the last capture or pawn move count for repetitions.
    limit : chess.engine.Limit
        The limit for each position: a depth, a number of nodes, a mate, or a time.
    multipv : int
        Number of best lines to find.
    hash_mb : int, optional
        Size of each thread's hash table in MiB. The default depends on the depth and the nodes of the limit, and is at
        most 16.
    evaluation, workers, executor
        As for `evaluate_many`.
    syzygy_path : path or several, optional
        Folders of Syzygy tablebases. They must exist; with an executor, on all machines.
    illegal : Analysis, optional
        The result for illegal positions, and for boards with illegal moves, such as ``Analysis((), None, None)``. By
        default, they are errors.
    on_result : callable, optional
        Function that the caller's thread calls with the index and the analysis of each position as soon as they are
        ready.

    Returns
    -------
    list of Analysis
        The analyses, in the order of the boards.

    Raises
    ------
    PositionError, OptionError, EngineError
        As for `evaluate_many`. OptionError also if a folder does not exist or there is too little memory.
    ValueError, TypeError
        If the limit sets none of depth, nodes, mate and time, or a number is invalid.
    """
    settings = _settings(limit, multipv, hash_mb, evaluation, syzygy_path, illegal)
    count = None if workers is None else whole("workers", workers, 1)
    tasks, records = _tasks(_positions_in(boards, settings), settings)
    size = settings.block_size(executor is not None)
    starts = range(0, len(tasks), size)
    blocks = ((start, tasks[start : start + size], records[start : start + size]) for start in starts)
    results: dict[int, Analysis] = {}
    found = _analysed(blocks, settings, executor, count, in_order=False)
    with closing(found):
        for (start, _, _), analyses in found:
            for index, analysis in enumerate(analyses, start):
                results[index] = analysis
                if on_result is not None:
                    on_result(index, analysis)
    return [results[index] for index in range(len(tasks))]


def analyse_iter(
    boards: Positions,
    limit: chess.engine.Limit,
    *,
    workers: int | None = None,
    multipv: int = 1,
    hash_mb: int | None = None,
    evaluation: str | None = None,
    syzygy_path: Folders | None = None,
    illegal: Analysis | None = None,
    executor: Elsewhere = None,
) -> Generator[tuple[Position, Analysis], None, None]:
    """Analyse positions one after another, as they arrive. Parameters and errors are the same as for `analyse_many`.

    Yields each position, in order, with its analysis. A board is returned as a copy.

    Only a few hundred positions are read ahead for each worker, and none while there is a result, so the positions may
    come from an endless generator. It may yield the same board again after changing it. Closing the returned generator
    ends the searches.
    """
    settings = _settings(limit, multipv, hash_mb, evaluation, syzygy_path, illegal)
    count = None if workers is None else whole("workers", workers, 1)
    positions, taken = _positions_in(boards, settings), deque[Position]()

    def blocks() -> Iterator[_Block]:
        size = settings.block_size(executor is not None)
        remaining = remembering(positions, taken)
        for start in itertools.count(0, size):
            tasks, records = _tasks(itertools.islice(remaining, size), settings, start)
            if not tasks:
                return
            yield start, tasks, records

    found = _analysed(blocks(), settings, executor, count, in_order=True)

    def pairs() -> Generator[tuple[Position, Analysis], None, None]:
        with closing(found):
            for _, analyses in found:
                for analysis in analyses:
                    yield taken.popleft(), analysis

    return pairs()


@dataclass(frozen=True, slots=True)
class _Settings:
    limits: Limits
    lines: int
    megabytes: int
    evaluation: str
    folders: tuple[str, ...]
    illegal: Analysis | None

    def block_size(self, away: bool) -> int:
        """Return a number of positions that is large enough to be worth handing out."""
        nodes = self.limits.nodes or _NODES_AWAY
        if self.limits.movetime:
            nodes = min(nodes, self.limits.movetime * _NODES_A_SECOND // 1000)
        return max(1, min((_NODES_AWAY if away else _NODES_HERE) // nodes, _MOST_POSITIONS))


def _settings(
    limit: chess.engine.Limit,
    multipv: int,
    hash_mb: int | None,
    evaluation: str | None,
    syzygy_path: Folders | None,
    illegal: Analysis | None,
) -> _Settings:
    limits = limits_without_clock(limit)
    lines = whole("multipv", multipv, 1, MAX_LINES)
    megabytes = _megabytes(limits, lines) if hash_mb is None else whole("hash_mb", hash_mb, 1, MAX_HASH_MB)
    name = evaluation_of(tables_of(evaluation))  # resolved here, because a worker's default may differ
    if not isinstance(illegal, Analysis | None):
        raise TypeError(f"illegal must be an Analysis, not {illegal!r:.60}")
    return _Settings(limits, lines, megabytes, name, tuple(folders_of(syzygy_path)), illegal)


@dataclass(frozen=True, slots=True)
class _Task:
    """The part of a task besides its packed position: the moves played from that position (squares and promotion in
    int64), and the position after them. `chess960` says whether castling is written as king takes rook.
    """

    moves: NDArray[np.int64]
    fen: str
    chess960: bool


# A block: the index of its first position, the tasks, and their packed first positions.
_Block: TypeAlias = tuple[int, list[_Task], NDArray[np.void]]


# --- workers -------------------------------------------------------------------------------------------------------


def _analysed(
    blocks: Iterable[_Block], settings: _Settings, executor: Elsewhere, workers: int | None, in_order: bool
) -> Generator[tuple[_Block, list[Analysis]], None, None]:
    """Analyse blocks of positions, by an executor or by threads. Errors in the settings are raised immediately."""
    if executor is not None:
        return results_elsewhere(blocks, partial(analyse_block, settings), executor, workers, in_order)
    return _by_threads(blocks, _Analysts(settings), workers or processors(), in_order)


def _by_threads(
    blocks: Iterable[_Block], analysts: "_Analysts", threads: int, in_order: bool
) -> Generator[tuple[_Block, list[Analysis]], None, None]:
    with Threads(threads, "analysis", analysts.analyse_block) as pool:
        try:
            with closing(pool.run(blocks, in_order)) as found:
                yield from found
        finally:
            analysts.cancel()


class _Analysts:
    """The analysts of the threads that are working. The first is made immediately; it shows errors in the settings."""

    def __init__(self, settings: _Settings) -> None:
        self._settings, self._tablebases = settings, _open_tablebases(settings)
        self._all: list[_Analyst] = []
        self._cancelled = False
        self._idle = Stock(self._make)
        with self._idle.lend():
            pass

    def _make(self) -> "_Analyst":
        analyst = _Analyst(self._settings, self._tablebases)
        self._all.append(analyst)
        if self._cancelled:  # perhaps too late for `cancel` to find this analyst
            analyst.cancel()
        return analyst

    def analyse_block(self, block: _Block) -> list[Analysis]:
        """Analyse a block; CancelledError if the work is no longer needed."""
        with self._idle.lend() as analyst:
            return analyst.analyse_block(block)

    def cancel(self) -> None:
        """Stop the running searches soon, and begin no more."""
        self._cancelled = True
        for analyst in self._all:
            analyst.cancel()


_own = threading.local()  # for each thread of an executor: its last `settings`, and its `analyst`


def analyse_block(settings: _Settings, block: _Block) -> list[Analysis]:
    """Analyse a block of positions in this thread, which keeps its hash table for the next block."""
    if getattr(_own, "settings", None) != settings:
        _own.analyst, _own.settings = _Analyst(settings, _open_tablebases(settings)), settings
    analyst: _Analyst = _own.analyst
    return analyst.analyse_block(block)


class _Analyst:
    """Analyses positions one after another, in one thread at a time."""

    def __init__(self, settings: _Settings, tablebases: Tablebases) -> None:
        tables = tables_of(settings.evaluation)
        self._table, self._worker = HashTable(settings.megabytes), new_record(WORKER)
        self._player = Player(tables, [self._worker], self._table, tablebases)
        self._game = Game(tables)
        self._limits, self._illegal = settings.limits, settings.illegal
        self._options = Options()
        for name, value in (("MultiPV", str(settings.lines)), ("UCI_ShowWDL", "true"), ("Move Overhead", "0")):
            self._options.set(name, value)
        self._search: Search | None = None
        self._cancelled = False

    def analyse_block(self, block: _Block) -> list[Analysis]:
        """Analyse a block, as `_Analysts.analyse_block` does."""
        first, tasks, records = block
        return [self._analyse(task, records, row, first + row) for row, task in enumerate(tasks)]

    def _analyse(self, task: _Task, records: NDArray[np.void], row: int, index: int) -> Analysis:
        if self._illegal is not None and not records["occupied"][row]:
            return self._illegal
        played = self._game.set_up_packed(records, row, task.moves)
        if played < len(task.moves):
            if self._illegal is not None:
                return self._illegal
            move = int(task.moves[played])
            name = chess.Move(source_of(move), target_of(move), kind_of(move) or None).uci()
            raise PositionError(f"illegal move on the board of position {index}: {name}")
        return self._searched(task)

    def _searched(self, task: _Task) -> Analysis:
        """Search the game's position from a fresh state, in this thread."""
        self._table.clear()
        forget(self._worker)
        if self._options.chess960 != task.chess960:
            self._options.set("UCI_Chess960", str(task.chess960))
        news: list[Info | CurrentMove | Message] = []
        results: list[Result] = []
        self._search = search = Search(
            self._player, self._game, self._limits, self._options, news.append, results.append
        )
        if self._cancelled:
            raise CancelledError
        search.run()
        for message in news:
            if isinstance(message, Message):
                logger.info("%s", message.text)
        [result] = results
        return analysis_of((line_of(info, task.fen) for info in news if isinstance(info, Info)), result)

    def cancel(self) -> None:
        """Stop the running search, or the next one, soon. Any thread may call this."""
        self._cancelled = True
        if self._search is not None:
            self._search.stop()


def _open_tablebases(settings: _Settings) -> Tablebases:
    if not settings.folders:
        return _shipped_tablebases(settings.evaluation)
    tablebases = Tablebases(tables_of(settings.evaluation), [*settings.folders, SHIPPED])
    for problem in tablebases.problems:
        logger.info("%s", problem)
    return tablebases


@cache
def _shipped_tablebases(evaluation: str) -> Tablebases:
    return Tablebases(tables_of(evaluation))


def _megabytes(limits: Limits, lines: int) -> int:
    """Choose the size of the hash table. Clearing a large table takes as long as searching thousands of nodes."""
    nodes = limits.nodes or math.inf
    if limits.depth:
        nodes = min(nodes, lines << min(limits.depth, _DEEPEST) + 7)  # nearly all searches visit fewer nodes
    return max(1, math.ceil(min(nodes / _NODES_A_MEGABYTE, _MOST_MEGABYTES)))


def _positions_in(boards: Positions, settings: _Settings) -> Iterator[Position]:
    return positions_in(boards, None if settings.illegal is None else "")


def _tasks(boards: Iterable[Position], settings: _Settings, first: int = 0) -> tuple[list[_Task], NDArray[np.void]]:
    """Convert boards to packed positions and the moves from there; `first` is the index of the first board."""
    roots: list[str] = []
    tasks = []
    strict = settings.illegal is None
    for number, position in enumerate(boards, first):
        what = f"position {number}"
        try:
            board = board_of(position, what, warn=False)
            root, moves = position_of(board, what)
        except PositionError:
            if strict:
                pack_from(first, roots)  # reports an earlier position instead if that is illegal, too
                raise
            board, root, moves = chess.Board(None), "", ()
        roots.append(root)
        tasks.append(_Task(encode_moves(moves), root if root and not moves else board.fen(), board.chess960))
    return tasks, pack_from(first, roots, strict)
