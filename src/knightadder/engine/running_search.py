"""One search: its threads and its end.

The main thread deepens and reports. Inside the compiled core it does not hold the GIL. Helper threads search the same
position and share results only through the transposition table (lazy SMP). The clock (`search_clock`) sets the stop
flag when the time is up; the core reads the flag at each node. When the main thread ends, every thread votes with the
best line of its last iteration. The answer does not wait for the helpers.

A search of a few milliseconds would spend much of its time on threads and reports. So a search can also run in the
calling thread, with one call of the core for all depths.
"""

import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random
from typing import TypeVar

import numpy as np

from knightadder.core.layout import MAX_DEPTH, MAX_PLY
from knightadder.core.search.nodes import NODES_TAKEN
from knightadder.engine.core_scores import MATE
from knightadder.engine.errors import EngineError
from knightadder.engine.game import Game
from knightadder.engine.hashtable import HashTable, first_possible
from knightadder.engine.info import Bound, Message, Result
from knightadder.engine.limits import Limits
from knightadder.engine.options import Options
from knightadder.engine.reporting import Report, Reporter, no_moves
from knightadder.engine.search_clock import TICK, SearchClock
from knightadder.engine.search_thread import NO_NODE_LIMIT, Root, SearchThread, Variation, Weakness, vote
from knightadder.engine.tablebases.play import Probing, Ranking, consult, play_out
from knightadder.engine.tablebases.registry import Tablebases
from knightadder.engine.threads import run_in_thread, start_thread
from knightadder.engine.timeman import Progress, allot, scale

_LOOK_UP = 0.5  # seconds between checks for Ctrl-C, because on Windows Ctrl-C does not interrupt a wait
_TABLE_TICK = 0.005  # seconds between checks for a stop while the hash table is being cleared
_EASY_DEPTH = 8  # maximum depth if there is only one legal move, to get a score and a reply to ponder on

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Player:
    """The parts of an engine that stay from search to search.

    `tables` are the read-only tables of the core. Each of the `workers` is the state of a thread; the first one belongs
    to the main thread. `random` decides about the errors of a weakened engine.
    """

    tables: np.record
    workers: Sequence[np.record]
    table: HashTable
    tablebases: Tablebases
    random: Random = field(default_factory=Random)


class Search:
    """A player's search of one position.

    The game must not change during the search. `report` receives analysis from the search's own threads, and `done`
    receives the result once. The argument `progress` is from the previous search; the attribute is this search's own.
    """

    def __init__(
        self,
        player: Player,
        game: Game,
        limits: Limits,
        options: Options,
        report: Report,
        done: Callable[[Result], None],
        progress: Progress | None = None,
    ) -> None:
        self._started = time.perf_counter()
        self._tablebases, self._game = player.tablebases, game
        self._limits, self._done = limits, done
        workers, table = player.workers, player.table
        self._node_time = options.node_time
        overhead = 0 if self._node_time else options.move_overhead
        self._budget = allot(limits, game.side_to_move, overhead, game.ply)
        self._all_at_once = False  # whether one call searches all depths, and only the last lines are reported
        self.ply, self.progress = game.ply, progress or Progress()

        moves = game.legal_moves()
        chosen = self._chosen_by_user(moves)
        self._no_such_moves = bool(limits.searchmoves and moves and not chosen)
        self._root_moves = chosen or moves
        nodes, self._nodes_after_hit = self._limit_nodes()
        handicap = options.handicap
        if handicap is not None and game.simply_won:
            handicap = handicap.mating
        probing, ranking = self._consult_tablebases(options, handicap is not None)
        weakness = None
        if handicap is not None:
            workers = workers[:1]
            longest = None if limits.ponder else self._budget.hard
            table = first_possible(min(handicap.hash_mb(longest), options.hash_mb), 1)
            if handicap.errs:
                oversight, misjudgement = round(1024 * handicap.oversight), round(handicap.misjudgement)
                weakness = Weakness(oversight, misjudgement, player.random.getrandbits(64))
                self._root_moves = weakness.seen(player.tables, game, self._root_moves, workers[0])
        self._lines = min(options.multipv, len(self._root_moves))
        if handicap is not None:
            nodes = handicap.node_limit(nodes, self._lines)
        self._stop_flag = np.zeros(1, np.uint64)
        self._table = table
        table.age()
        if self._nodes_after_hit is not None:  # threads take all their nodes from those that `ponder_hit` can limit
            self._node_limits, spare = [0] * len(workers), nodes or NO_NODE_LIMIT
        else:
            self._node_limits, spare = _split(nodes, len(workers))
        self._spare_nodes = np.full(1, spare, np.int64)
        root = Root(
            player.tables, game, self._root_moves, table, self._stop_flag, probing, ranking, weakness, self._spare_nodes
        )
        threads = [SearchThread(root, worker) for worker, _ in zip(workers, self._node_limits, strict=False)]
        self._main, *self._helpers = threads
        self._ranked = ranking is not None
        self._ends: dict[tuple[int, ...], tuple[int, ...]] = {}  # results of `play_out` by kept moves
        hits = len(ranking.moves) if ranking else 0
        self._reporter = Reporter(
            report, threads, table, options.chess960, options.show_wdl, game.material, self._started, hits
        )
        self._clock = SearchClock(limits, self._budget.hard, self._started, self._stop_flag, self._main, self._reporter)

        # An event instead of `join`: after Ctrl-C during `join`, CPython 3.11 considers a running thread finished.
        self._begun, self._ended = False, threading.Event()
        self._helper_threads: list[threading.Thread] = []  # the started threads
        self._helper_lines: list[Variation | None] = [None] * len(self._helpers)
        self._starting = threading.Lock()
        self._without_thread = False  # whether the search has no thread, and has yet to run

    def start(self) -> None:
        """Start all threads. If the system allows no more threads, the search ends with a legal move: at once, or when
        its result need no longer be held back.
        """
        # The search thread starts before the others: each start waits until the thread runs, which takes milliseconds
        # on a busy machine.
        self._begun = True
        try:
            run_in_thread(self._run, "search")
        except EngineError:
            self._reporter.tell(Message("no search thread could be started"))
            self._without_thread = True
            self._run_without_thread()
            return
        if self._clock.needed:
            self._clock.start()
        if self._root_moves:
            self._start_helper(0)

    def run(self) -> None:
        """Search in the calling thread, without helpers, and report only the lines at the end. The result is the same
        as with `start`, unless the search of `start` would have ended earlier: by a clock, by `stop`, or because it had
        found a reply to ponder on.
        """
        self._all_at_once = True
        self._begun = True
        if self._clock.needed:
            self._clock.start()
        self._run()

    @property
    def running(self) -> bool:
        """Whether threads of the search are still running."""
        return self._begun and not self._ended.is_set()

    def wait(self, timeout: float | None = None) -> None:
        """Wait until the threads have finished, at most `timeout` seconds. Ctrl-C ends a wait without a timeout."""
        if timeout is None:
            while self.running:
                self._ended.wait(_LOOK_UP)
        elif self._begun:
            self._ended.wait(timeout)

    def stop(self) -> None:
        """Stop the search, and release a held-back result."""
        self._clock.stop()
        if self.running and not self._stop_flag[0]:
            self._clock.start()  # the clock ends a first iteration that takes too long
        self._run_without_thread()

    def ponder_hit(self) -> None:
        """Start the clock, because the opponent has played the expected move."""
        if self._clock.ponder_hit() and self._nodes_after_hit is not None:
            self._spare_nodes[0] = min(int(self._spare_nodes[0]), self._nodes_after_hit)
        self._run_without_thread()

    def _run_without_thread(self) -> None:
        """Run a search that has no thread in the calling thread, briefly, unless its result is held back."""
        if not self._without_thread or self._clock.held:
            return
        with self._starting:
            is_first, self._without_thread = self._without_thread, False
        if is_first:
            self.stop()
            self._run()

    def _limit_nodes(self) -> tuple[int | None, int | None]:
        """Return the maximum number of nodes, and of nodes after the ponder hit. None is no limit. If nodes count as
        time, the time is turned into nodes, so no clock is watched.
        """
        nodes = self._limits.nodes
        if not self._node_time or self._budget.hard is None:
            return nodes, None
        allowed = max(round(self._budget.hard * self._node_time), 1)
        self._budget = replace(self._budget, hard=None)
        if self._limits.ponder:
            return nodes, allowed
        return allowed if nodes is None else min(nodes, allowed), None

    def _chosen_by_user(self, legal: Sequence[int]) -> list[int]:
        if not self._limits.searchmoves:
            return []
        wanted = {self._game.find(name) for name in set(self._limits.searchmoves)}
        return [move for move in legal if move in wanted]

    def _consult_tablebases(self, options: Options, weakened: bool) -> tuple[Probing, Ranking | None]:
        """Rank the root moves by the tablebases and drop the worse ones; return the settings for probing, and the
        ranking. A weakened engine uses no tablebases, nor does a search for a mate, because a tablebase win is not a
        mate.
        """
        if weakened or self._limits.mate or not self._root_moves:
            return Probing(), None
        men = min(self._tablebases.largest, options.syzygy_probe_limit)
        wanted = Probing(self._tablebases.address, men, options.syzygy_probe_depth, options.syzygy_50_move_rule)
        probing, ranking = consult(self._tablebases, self._game, self._root_moves, options.multipv, wanted)
        if ranking:
            self._root_moves = list(ranking.moves)
        return probing, ranking

    # --- the main thread -------------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            self._attempt(self._deepen)
        finally:  # Ctrl-C, too, ends a search in the calling thread
            self._finish()

    def _attempt(self, step: Callable[[], T]) -> T | None:
        """Return the result of a step. If it fails, tell the user and return None: the interface waits for a move."""
        try:
            return step()
        except Exception as error:
            self._reporter.tell(Message(f"search failed: {error!r}"))
            return None

    def _deepen(self) -> None:
        """Search one depth after another, report each depth, and end the search when it has been long enough."""
        main, lines, mate_plies = self._main, self._lines, 2 * (self._limits.mate or 0)
        last = self._prepare()
        while main.completed < last:
            depth = main.completed + 1
            if self._all_at_once:
                main.deepen(1, last, lines, mate_plies)
                break
            # The search pauses if a score lies outside its window, so that the score can be reported as a bound.
            main.deepen(depth, depth, lines, mate_plies, pausing=lines == 1)
            if main.completed == depth:
                self._report_lines([main.line(index) for index in range(self._lines)])
                if self._clock.stopping or self._enough(depth):
                    break
                if self._clock.elapsed > TICK:
                    self._clock.start()  # it reports the current move
            elif main.stopped:
                break
            elif self._clock.shows_details:
                self._report_lines([main.line()])

    def _prepare(self) -> int:
        if self._no_such_moves:
            self._reporter.tell(Message("none of the searchmoves is legal: searching all moves"))
        self._main.prepare(self._node_limits[0])
        if not self._root_moves:
            self._reporter.tell(no_moves(self._game.in_check))
            return 0
        self._await_table()
        return min(self._limits.depth or MAX_DEPTH, MAX_DEPTH)

    def _finish(self) -> None:
        try:
            self._stop_flag[0] = 1
            result = self._answer()
            self._clock.await_release()
            self._done(result)
        finally:
            self._join_helpers()
            self._ended.set()

    def _await_table(self) -> None:
        """Wait until the hash table is cleared, but only briefly if time is limited: then some entries are lost."""
        patience = math.inf if self._budget.hard is None else self._budget.hard / 2000
        while not self._clock.stopping and not self._stop_flag[0] and self._clock.elapsed < patience:
            if self._table.wait(_TABLE_TICK):
                return

    def _report_lines(self, lines: Sequence[Variation]) -> None:
        self._reporter.lines([self._played_out(line) for line in lines])

    def _played_out(self, line: Variation) -> Variation:
        """Extend a line that tablebases decide to the end of the game, unless time is limited: probing takes time."""
        if not line.ends_in_tables:
            return line
        kept = line.moves[:1] if self._ranked else line.moves  # the moves that `play_out` keeps
        if kept not in self._ends and self._budget.hard is None and not self._clock.stopping:
            self._ends[kept] = play_out(self._tablebases, self._game, kept)
        return replace(line, moves=self._ends.get(kept, line.moves))

    def _enough(self, depth: int) -> bool:
        """Return whether to end the search after this iteration."""
        best = self._main.line()
        mate_plies = MATE - abs(best.score)
        if self._limits.mate and mate_plies <= 2 * self._limits.mate:
            return True
        soft = self._budget.soft
        if soft is None:
            return False
        self.progress = self.progress.after(best.moves[0], best.score, self._main.best_share)
        # With several lines, the share of nodes does not show how certain the best move is.
        factor = scale(self.progress) if self._lines == 1 else 1.0
        done = (
            self._spent() >= soft * factor
            or (len(self._root_moves) == 1 and depth >= _EASY_DEPTH)
            # A search this much deeper than the mate cannot find a shorter one.
            or (mate_plies <= MAX_PLY and depth >= 2 * mate_plies + 4)
        )
        return self._clock.may_end(done)

    def _answer(self) -> Result:
        """Return the result. If the best line cannot be reported or is unknown, there is still a move."""
        if not self._root_moves:
            return Result(None, None, self._reporter.last_info)
        line = self._attempt(self._elect) or self._attempt(self._main.line)
        move, reply = self._root_moves[0], None
        if line is not None:
            move, reply = line.moves[0], self._attempt(partial(self._main.expected_reply, line))
        name = self._reporter.name
        return Result(name(move), name(reply) if reply else None, self._reporter.last_info)

    def _elect(self) -> Variation:
        """Choose the line to play. Report it and the lines below it, unless they have just been reported."""
        main = self._main
        lines = [main.line(index) for index in range(self._lines if main.completed else 1)]
        # A stopped iteration may have found better moves, and it has counted more nodes.
        changed = main.stopped or self._all_at_once
        # If the user asked for a certain depth or several lines, only the main thread's lines can be the answer.
        if not self._limits.depth and self._lines == 1:
            known = (lines if main.completed else []) + [line for line in self._helper_lines if line is not None]
            chosen = known[vote(known)] if known else lines[0]
            changed |= chosen is not lines[0]
            lines = [chosen]
        if changed:
            # The line to play is reported without a bound, because clients look for the move in such a line.
            best, *others = _descending(lines)
            self._report_lines([replace(best, bound=Bound.EXACT), *others])
        return self._played_out(lines[0])  # the expected reply belongs to the reported line

    # --- the helpers -----------------------------------------------------------------------------------------------

    def _start_helper(self, index: int) -> None:
        """Start a helper, which then starts the next one, so that no thread has to start hundreds of them."""
        with self._starting:
            if index == len(self._helpers) or self._stop_flag[0]:
                return
            try:
                self._helper_threads.append(start_thread(partial(self._help, index), f"search {index + 2}"))
            except EngineError:
                self._reporter.tell(Message(f"only {index + 1} search threads could be started"))

    def _help(self, index: int) -> None:
        try:
            self._start_helper(index + 1)
            helper = self._helpers[index]
            helper.prepare(self._node_limits[index + 1])
            self._await_table()
            for depth in range(1, MAX_DEPTH + 1):
                helper.deepen(depth, depth)
                if helper.stopped:
                    return
                self._helper_lines[index] = helper.line()
        except Exception as error:  # the other threads continue without this thread's vote
            self._helper_lines[index] = None
            self._reporter.tell(Message(f"a search thread failed: {error!r}"))

    def _join_helpers(self) -> None:
        with self._starting:  # the stop flag is set, so no helper starts after this
            pass
        for thread in self._helper_threads:
            thread.join()

    def _spent(self) -> float:
        return self._reporter.nodes() / self._node_time if self._node_time else self._clock.elapsed * 1000


def _descending(lines: Sequence[Variation]) -> list[Variation]:
    """Return the lines with scores that do not increase. The first line stays the first.

    If the search was stopped, only some of the lines belong to the last iteration, and they may not be sorted yet. A
    line of the iteration before may have a higher score than the lines above it, which have turned out to be better.
    The score is then lowered and becomes an upper bound.
    """
    newest = max(line.depth for line in lines)
    limited = list(lines[:1])
    for line in sorted(lines[1:], key=lambda line: (-line.depth, -line.score)):
        above = limited[-1].score
        is_old = line.depth < newest and line.score > above
        limited.append(replace(line, score=above, bound=Bound.UPPER) if is_old else line)
    return limited


def _split(nodes: int | None, threads: int) -> tuple[list[int], int]:
    """Divide a node limit, if there is one: return the limit of each thread, and the rest, which all threads share.

    The main thread keeps its share, so it gets deep enough even if the helpers are faster. A helper begins with only a
    few nodes, because nobody else could use the nodes of a helper that starts too late. If the limit is too small to
    divide, the main thread gets all of it.
    """
    if nodes is None:
        return [NO_NODE_LIMIT] * threads, 0
    share = nodes // threads
    helpers = [min(share, int(NODES_TAKEN))] * (threads - 1) if share else []
    main = nodes - share * len(helpers)
    return [main, *helpers], nodes - main - sum(helpers)
