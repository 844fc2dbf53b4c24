"""The engine: a game, a hash table, options, and one search at a time. It knows no protocol."""

import contextlib
import os
from collections.abc import Callable, Sequence
from random import Random

import numpy as np
from numpy.typing import NDArray

from knightadder.core.evaluation.evaluate import CLASSICAL, NETWORK
from knightadder.core.worker import WORKER
from knightadder.engine.book import Book
from knightadder.engine.capacity import processors
from knightadder.engine.errors import EngineError, OptionError
from knightadder.engine.evaluator import Evaluator
from knightadder.engine.explain.breakdown import break_down
from knightadder.engine.explain.table import evaluation_table
from knightadder.engine.explain.worths import bucket_line, piece_worths, worth_board
from knightadder.engine.game import Game, array_of
from knightadder.engine.hashtable import HashTable, first_possible, must_fit
from knightadder.engine.info import Ending, Message, Result
from knightadder.engine.limits import Limits
from knightadder.engine.options import Options
from knightadder.engine.reporting import Report
from knightadder.engine.running_search import Player, Search
from knightadder.engine.tablebases.registry import SHIPPED, Tablebases
from knightadder.frozen import typed_command
from knightadder.native.memory import Clearing
from knightadder.native.records import new_record
from knightadder.text import counted


class Engine:
    """A chess engine; `set_option` changes its options, and `random` chooses the moves of a weakened engine. An
    `EngineError` is raised if there is too little memory, or if the user's network cannot be used.
    """

    def __init__(self, options: Options | None = None) -> None:
        self.options = options or Options()
        try:
            self._evaluator = Evaluator(self.options.evaluation, self.options.eval_file)
        except OptionError as error:
            raise OptionError(f"option EvalFile: {error}") from None
        self._tables = self._evaluator.tables
        self._workers = _new_workers(_useful(self.options.threads))
        self._table = HashTable(self.options.hash_mb)
        self._table.begin_clearing()
        self._game = Game(self._tables)
        self._search: Search | None = None
        self._book: Book | None = None
        self._tablebases = Tablebases(self._tables)
        self._trusted_folders = {str(SHIPPED)}  # folders whose files the user has already been advised to verify
        self.random = Random()

    # --- settings and position -------------------------------------------------------------------------------------

    def set_option(self, name: str, text: str | None) -> list[str]:
        """Set an option from text, apply it, and return messages for the user, a line each. An `OptionError` is raised,
        and the old value kept, if the option does not exist or does not accept the value.
        """
        self._must_be_idle()
        self._search = None  # a search refers to the old hash table
        option, value = self.options.read(name, text)
        match option.name, value:
            case "Hash", int(megabytes) if megabytes != self._table.megabytes:
                self._replace_table(megabytes)
            case "Threads", int(threads) if _useful(threads) != len(self._workers):
                self._workers = _new_workers(_useful(threads))
            case "Clear Hash", _:
                self._table.begin_clearing()
            case "BookFile", str(file):
                self._open_book(file)
            case "EvalType" | "EvalFile", str(choice):
                self._change_evaluation(option.name, choice)
        self.options.set(name, text)
        if option.name == "SyzygyPath":
            return self._open_tablebases()
        count = len(self._workers)
        if option.name == "Threads" and count < self.options.threads:
            return [f"{counted(count, 'thread')} will search, because this process may use only that many processors"]
        return []

    @property
    def problem(self) -> str | None:
        """One line that says why the built-in network cannot be used, or None. The engine works without the network."""
        return self._evaluator.problem

    def new_game(self) -> None:
        """Clear everything that earlier searches have learnt."""
        self._must_be_idle()
        self._search = None
        self._table.begin_clearing()
        _clear_workers(self._workers)

    @property
    def ready(self) -> bool:
        """Whether a search is running, or would begin immediately because the hash table has been cleared."""
        return self.searching or self._table.wait(0)

    def get_ready(self) -> None:
        """Wait until the engine is ready."""
        if not self.searching:
            self._table.wait()

    def hurry(self) -> None:
        """Be ready immediately, even if the hash table is not cleared. Call this before closing the engine."""
        self._table.stop_clearing()

    def set_position(self, fen: str | None = None, moves: Sequence[str] = ()) -> tuple[str, ...]:
        """Set up a position, by default the start position, and play moves from it; see `Game.set_up`."""
        self._must_be_idle()
        return self._game.set_up(fen, moves)

    def set_bitboards(self, numbers: NDArray[np.uint64], fullmove: int, moves: Sequence[str] = ()) -> bool:
        """Set up a position as in `Game.set_up_bitboards`; return False if it is illegal."""
        self._must_be_idle()
        return self._game.set_up_bitboards(numbers, fullmove, moves)

    def fen(self) -> str:
        """Return the FEN of the position."""
        return self._game.fen(self.options.chess960)

    def diagram(self) -> str:
        """Return the position as a diagram of several lines."""
        return self._game.diagram(self.options.chess960)

    def evaluation(self) -> str:
        """Return the static evaluation as text, in pawns from White's view: its parts, and then its value."""
        game = self._game
        if game.in_check:
            return "Evaluation: none (in check)"
        value = game.evaluate() * (1 - 2 * game.side_to_move)
        parts = [worth_board(game.board, piece_worths(game, value))]
        if self._tables.evaluation == CLASSICAL:
            parts.insert(0, evaluation_table(break_down(game.trace(), self._tables.terms)))
        elif self._tables.evaluation == NETWORK:
            parts.append(bucket_line(self._tables, game.men))
        return "\n".join([*parts, f"Evaluation: {value / 100:+.2f} (white side, {self._evaluator.name})"])

    def legal_moves(self) -> list[str]:
        """Return the legal moves in UCI notation."""
        return self._game.legal_moves_uci(self.options.chess960)

    def ending(self) -> Ending | None:
        """Return how the game has ended; None if it has not."""
        return self._game.ending()

    def book_moves(self) -> dict[str, int]:
        """Return the moves of the opening book in UCI notation with their weights, the heaviest first."""
        return self._book.moves(self.fen(), self.options.chess960) if self._book else {}

    def warm_up(self) -> None:
        """Search briefly, so that the clock of the first move does not pay for the first use of ctypes and NumPy."""
        self._must_be_idle()
        self._game.set_up(None, ["e2e4", "e7e5"])
        search = self._new_search(HashTable(1), Limits(depth=2), lambda news: None, lambda result: None)
        search.start()
        search.wait()
        self.set_position()
        _clear_workers(self._workers)

    # --- searching -------------------------------------------------------------------------------------------------

    @property
    def searching(self) -> bool:
        """Whether a search has not yet delivered its result."""
        return self._search is not None and self._search.running

    def go(self, limits: Limits, on_info: Report, on_done: Callable[[Result], None]) -> Callable[[], None]:
        """Start a search and return immediately. The returned function stops this search if it is still running.

        With ``infinite`` or ``ponder``, the result is held back until `stop` or `ponderhit`. The engine's own threads
        call `on_info` with analysis, and `on_done` once with the result.
        """
        self._must_be_idle()
        for line in self._tablebases.drop_changed():
            on_info(Message(line))
        table, move = self._table, self._book_move(limits)
        if move:  # a short search gives a score, and often a reply to ponder on
            limits = Limits(depth=1, searchmoves=(move,), ponder=limits.ponder)
            table = HashTable(1)  # the engine's table may be large, and a search waits until its table is cleared
        self._search = self._new_search(table, limits, on_info, on_done)
        self._search.start()
        return self._search.stop

    def stop(self) -> None:
        """Stop the search or perft, if one is running."""
        self._game.interrupt()
        if self._search is not None:
            self._search.stop()

    def ponderhit(self) -> None:
        """Go on with the search on the engine's own clock: the opponent has played the expected move."""
        if self._search is not None:
            self._search.ponder_hit()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the search to end, at most `timeout` seconds; return whether the engine is idle."""
        if self._search is not None:
            self._search.wait(timeout)
        return not self.searching

    def perft(self, depth: int, bulk: bool = True) -> dict[str, int]:
        """Count the leaves of the legal move tree by root move; see `Game.perft`."""
        self._must_be_idle()
        return self._game.perft(depth, bulk, self.options.chess960)

    def close(self) -> None:
        """Stop a running search, wait for its result, and free memory and files. No search can begin afterwards."""
        self.stop()
        self.wait()
        self._search = None  # a search refers to the hash table, and through its listeners to the engine
        self._workers = []
        self._tablebases = Tablebases(self._tables, ())
        self._open_book("")
        with contextlib.suppress(OptionError):
            self._replace_table(1)

    def _new_search(self, table: HashTable, limits: Limits, report: Report, done: Callable[[Result], None]) -> Search:
        player = Player(self._tables, self._workers, table, self._tablebases, self.random)
        before = self._search
        progress = before.progress.of_next_search(self._game.ply - before.ply) if before else None
        return Search(player, self._game, limits, self.options, report, done, progress)

    def _open_book(self, file: str) -> None:
        book = Book(file) if file else None
        if self._book:
            self._book.close()
        self._book = book

    def _change_evaluation(self, option: str, value: str) -> None:
        change = self._evaluator.choose if option == "EvalType" else self._evaluator.use_network
        try:
            changed = change(value)
        except OptionError as error:
            raise OptionError(f"option {option}: {error}") from None
        if changed:
            self._game.renew_sums()
            self.new_game()  # scores of the old evaluation have a different scale

    def _open_tablebases(self) -> list[str]:
        folders = [folder for folder in self.options.syzygy_path.split(os.pathsep) if folder]
        found = self._tablebases = Tablebases(self._tables, [*folders, SHIPPED])
        count, dtz_count = len(found.names), len(found.dtz_names)
        lines = [
            f"Syzygy tablebases: {count} WDL and {dtz_count} DTZ tables, up to {found.largest} men",
            *found.problems,
        ]
        # A damaged file with a valid header gives wrong values. Checking whole files would take too long here, so the
        # user is told how to check them.
        if new := sorted({str(path.parent) for path in found.paths.values()} - self._trusted_folders):
            self._trusted_folders.update(new)
            lines.append(f"to check whole files for damage: {typed_command(['tablebases', 'verify', *new])}")
        return lines

    def _book_move(self, limits: Limits) -> str | None:
        options = self.options
        if self._book is None or not options.own_book or options.analyse_mode or self._game.ply >= options.book_depth:
            return None
        if limits.unlimited or limits.mate or limits.searchmoves:
            return None
        return self._book.choose(self.fen(), self.random, options.best_book_move, options.chess960)

    def _replace_table(self, megabytes: int) -> None:
        """Make a hash table of a new size. The old table is freed first, as there may be no room for both. If there is
        too little memory, the new table has the old size or the smallest, or the old table stays.
        """
        must_fit(megabytes)
        before = self._table.megabytes
        self._table.stop_clearing()
        with contextlib.suppress(OptionError):
            self._table = HashTable(1)
            self._table = first_possible(megabytes, before)
        self._table.begin_clearing()
        size = self._table.megabytes
        if size != megabytes:
            self.options.set("Hash", str(size))
            raise OptionError(f"not enough memory for a hash table of {megabytes} MB: its size is now {size} MB")

    def _must_be_idle(self) -> None:
        if self.searching:
            raise EngineError("the engine is searching")


def _useful(threads: int) -> int:
    """Return how many of the wanted threads search: more than there are processors would only slow each other down."""
    return min(threads, processors())


def _new_workers(threads: int) -> list[np.record]:
    """Return the zeroed states of the search threads. Each takes megabytes, and there may be hundreds of threads."""
    try:
        workers = [new_record(WORKER) for _ in range(threads)]
    except MemoryError:
        raise OptionError(f"not enough memory for {threads} threads") from None
    _clear_workers(workers)
    return workers


def _clear_workers(workers: Sequence[np.record]) -> None:
    Clearing([array_of(worker).view(np.uint8) for worker in workers]).wait()
