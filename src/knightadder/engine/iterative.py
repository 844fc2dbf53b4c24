"""Iterative deepening: searches depth after depth, reports each, and ends by limits, clock or order.

A `Search` runs in two threads. One deepens; while it is inside the compiled core it does not hold the GIL. The other
keeps the clock: it raises the stop flag, which the core polls, when the time is up.
"""

import threading
import time
import traceback
from collections.abc import Callable, Sequence
from typing import TypeAlias, cast

import numpy as np

from knightadder.core import transposition
from knightadder.core.game import play_expected
from knightadder.core.layout import MAX_PLY
from knightadder.core.root import search_root
from knightadder.engine.game import Game, copy_game
from knightadder.engine.hashtable import HashTable
from knightadder.engine.info import Bound, CurrentMove, Info, Message, Result, Score
from knightadder.engine.limits import Limits
from knightadder.engine.notation import to_uci
from knightadder.engine.options import Options
from knightadder.engine.timeman import allot
from knightadder.engine.wdl import win_draw_loss

EXACT, LOWER = int(transposition.EXACT), int(transposition.LOWER)
INFINITE, MATE, MATE_FOUND = int(transposition.INFINITE), int(transposition.MATE), int(transposition.MATE_FOUND)

Report: TypeAlias = Callable[[Info | CurrentMove | Message], None]

MAX_DEPTH = MAX_PLY - 64  # plies; extensions may go deeper
_NO_NODE_LIMIT = (1 << 63) - 1
_ASPIRATION_FROM = 5  # plies; before, scores jump too much for a narrow window
_ASPIRATION_WINDOW = 18  # centipawns to either side of the last score
_SHOW_DETAILS_AFTER = 3.0  # seconds; earlier, current moves and bounds would only flood the interface
_CLOCK_TICK = 0.1  # seconds between looks at the current move
_EASY_DEPTH = 8  # plies spent on the only legal move, for a score and a reply to ponder on


class Search:
    """One search of one position.

    Parameters
    ----------
    tables, worker : record
        The core's read-only tables and the search thread's state.
    table : HashTable
        The transposition table.
    game : Game
        The position to search; it must not change meanwhile.
    limits : Limits
        When to end.
    options : Options
        The user's settings.
    report : callable
        Receives analysis, from the search's own threads.
    done : callable
        Receives the result, once.
    """

    def __init__(
        self,
        tables: np.record,
        worker: np.record,
        table: HashTable,
        game: Game,
        limits: Limits,
        options: Options,
        report: Report,
        done: Callable[[Result], None],
    ) -> None:
        self._started = time.perf_counter()
        self._tables, self._worker, self._table = tables, worker, table
        # Arrays, whose fields Python reaches many times faster than those of a record.
        self._state, self._roots = cast(np.ndarray, worker.base), worker.root_moves
        self._game, self._limits, self._report, self._done = game, limits, report, done
        self._chess960, self._show_wdl = options.chess960, options.show_wdl
        self._budget = allot(limits, game.side_to_move, options.move_overhead)
        self._clock_runs_from = self._started
        self._stop_flag = np.zeros(1, np.uint64)
        self._changed = threading.Condition()
        self._clock_speaks = threading.Lock()
        self._pondering = limits.ponder
        self._held = limits.ponder or limits.unlimited
        self._stop_on_ponder_hit = False
        self._finished = False
        self._depth = 0
        self._last_info: Info | None = None
        self._multipv = options.multipv
        self.thread = threading.Thread(target=self._run, name="search", daemon=True)
        self._clock = threading.Thread(target=self._keep_time, name="clock", daemon=True)

    def start(self) -> None:
        """Start both threads."""
        # To start a thread is to wait for its first sign of life, on a busy machine for milliseconds: the search first.
        self.thread.start()
        self._clock.start()

    def stop(self) -> None:
        """End the search soon, and let a held-back result go."""
        with self._changed:
            self._held = self._pondering = False
            self._stop_flag[0] = 1
            self._changed.notify_all()

    def ponder_hit(self) -> None:
        """The opponent has played the expected move: from now on the clock runs."""
        with self._changed:
            if not self._pondering:
                return
            self._pondering = False
            self._held = self._limits.unlimited
            self._clock_runs_from = time.perf_counter()
            if self._stop_on_ponder_hit:
                self._stop_flag[0] = 1
            self._changed.notify_all()

    # --- setting up ------------------------------------------------------------------------------------------------

    def _prepare(self) -> None:
        worker = self._worker
        copy_game(self._game.record, worker)
        moves = self._root_moves()
        worker.root_count = len(moves)
        root_moves = self._roots[: len(moves)]
        root_moves[:] = np.zeros((), root_moves.dtype)
        root_moves["move"] = root_moves["pv"][:, 0] = moves
        root_moves["pv_length"] = 1
        root_moves["score"] = root_moves["previous_score"] = -INFINITE
        worker.nodes = worker.seldepth = worker.stopped = worker.null_from_ply = 0
        worker.root_index = worker.pv_index = 0
        worker.node_limit = self._limits.nodes or _NO_NODE_LIMIT
        worker.stop_address = self._stop_flag.ctypes.data
        self._table.age()
        worker.tt_address, worker.tt_buckets = self._table.address, self._table.buckets
        worker.tt_generation = self._table.generation
        self._lines = min(self._multipv, len(moves))

    def _root_moves(self) -> Sequence[int]:
        legal = self._game.legal_moves()
        if not self._limits.searchmoves:
            return legal
        wanted = [self._game.find(name) for name in self._limits.searchmoves]
        chosen = [move for move in legal if move in wanted]
        if legal and not chosen:
            self._tell(Message("none of the searchmoves is legal: searching all moves"))
        return chosen or legal

    # --- the search thread -----------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            self._prepare()
            if self._read("root_count"):
                self._deepen()
            else:
                score = Score(mate=0) if self._game.in_check else Score(cp=0)
                self._tell(Info(0, 0, 1, score, Bound.EXACT, None, 0, 0, 0, 0, 0, ()))
        except Exception as error:  # whatever goes wrong, the game must go on: answer with the best move so far
            self._tell(Message(f"search failed: {error!r}"))
        with self._changed:
            while self._held:
                self._changed.wait()
            self._finished = True
            self._changed.notify_all()
        with self._clock_speaks:  # if it does, let it finish; it will not begin again
            pass
        self._done(self._result())

    def _deepen(self) -> None:
        deepest = min(self._limits.depth or MAX_DEPTH, MAX_DEPTH)
        for depth in range(1, max(deepest, 1) + 1):
            self._depth = depth
            self._roots["previous_score"] = self._roots["score"]
            for line in range(self._lines):
                self._search_line(line, depth)
                if self._read("stopped"):
                    # Once more, for the final counts, and because a better move may have been found since.
                    reached = depth if self._roots["score"][0] > -INFINITE else max(depth - 1, 1)
                    self._report_line(0, reached)
                    return
            for line in range(self._lines):
                self._report_line(line, depth)
            # The core looks at the flag only once in many nodes, which a small tree may never reach.
            if self._stop_flag[0] or self._enough(depth):
                return

    def _search_line(self, line: int, depth: int) -> None:
        """Search for the `line`-th best move, in an aspiration window around its last score."""
        self._state["pv_index"] = line
        self._state["seldepth"] = 0
        alpha, beta = -INFINITE, INFINITE
        window = _ASPIRATION_WINDOW
        center = int(self._roots["previous_score"][line])
        if depth >= _ASPIRATION_FROM and abs(center) < MATE_FOUND:
            alpha, beta = max(center - window, -INFINITE), min(center + window, INFINITE)
        while True:
            score = int(search_root(self._tables, self._worker, depth, alpha, beta))
            if self._read("stopped") or alpha < score < beta:
                break
            if self._lines == 1 and self._elapsed() > _SHOW_DETAILS_AFTER:
                self._report_line(0, depth)
            # A mate score needs no narrow window, and would take long to reach with one.
            window = INFINITE if abs(score) >= MATE_FOUND else window * 2
            if score <= alpha:
                beta = (alpha + beta) // 2
                alpha = max(score - window, -INFINITE)
            else:
                beta = min(score + window, INFINITE)
        if line:
            # A line found later may be better than those before it.
            best_first = np.argsort(-self._roots["score"][: line + 1], kind="stable")
            self._roots[: line + 1] = self._roots[: line + 1][best_first]

    def _enough(self, depth: int) -> bool:
        """Decide between two iterations whether to end."""
        best = int(self._roots["score"][0])
        if self._limits.mate and abs(best) >= MATE - 2 * self._limits.mate:
            return True
        soft = self._budget.soft
        if soft is None:
            return False
        mate_plies = MATE - abs(best)
        done = (
            self._elapsed() * 1000 >= soft
            or (self._read("root_count") == 1 and depth >= _EASY_DEPTH)
            # A mate that even a search this much deeper could not better.
            or (mate_plies <= MAX_PLY and depth >= 2 * mate_plies + 4)
        )
        with self._changed:
            if done and self._pondering:
                self._stop_on_ponder_hit = True
                return False
        return done

    # --- the clock thread ------------------------------------------------------------------------------------------

    def _keep_time(self) -> None:
        shown = (0, "")
        while True:
            with self._changed:
                if self._finished:
                    return
                self._changed.wait(self._check_clock())
                searching = self._depth > 0 and not self._stop_flag[0]
            # Not under that lock: a report may block while nobody reads it, and a stop must not wait for it.
            with self._clock_speaks:
                if searching and not self._finished and self._elapsed() > _SHOW_DETAILS_AFTER:
                    current = self._current_move()
                    if (current.depth, current.move) != shown:
                        shown = (current.depth, current.move)
                        self._tell(current)

    def _check_clock(self) -> float:
        """Raise the stop flag if the time is up; return the seconds until the next look."""
        if self._budget.hard is None or self._pondering:
            return _CLOCK_TICK
        left = self._clock_runs_from + self._budget.hard / 1000 - time.perf_counter()
        if left <= 0:
            self._stop_flag[0] = 1
            return _CLOCK_TICK
        return min(_CLOCK_TICK, left)

    def _current_move(self) -> CurrentMove:
        index = self._read("root_index")
        name = self._name(self._roots["move"][index])
        nodes, nps, hashfull, time_ms = self._counters()
        return CurrentMove(self._depth, name, index + 1, nodes, nps, hashfull, time_ms)

    # --- reporting -------------------------------------------------------------------------------------------------

    def _tell(self, news: Info | CurrentMove | Message) -> None:
        try:
            self._report(news)
        except Exception:  # a listener's mistake must not cost the game
            traceback.print_exc()

    def _read(self, field: str) -> int:
        """Read a number of the search thread's record."""
        return int(self._state[field][0])

    def _elapsed(self) -> float:
        return time.perf_counter() - self._started

    def _counters(self) -> tuple[int, int, int, int]:
        """Nodes, nodes per second, per mille of the table used, milliseconds."""
        elapsed = self._elapsed()
        nodes = self._read("nodes")
        return nodes, int(nodes / max(elapsed, 1e-6)), self._table.permille_full(), int(elapsed * 1000)

    def _name(self, move: int) -> str:
        return to_uci(int(move), self._chess960)

    def _report_line(self, line: int, depth: int) -> None:
        roots = self._roots
        value, kind = int(roots["score"][line]), int(roots["bound"][line])
        if value == -INFINITE:  # stopped before this iteration got to it
            value, kind = int(roots["previous_score"][line]), EXACT
        if value == -INFINITE:  # stopped before any did
            value = 0
        bound = Bound.EXACT if kind == EXACT else Bound.LOWER if kind == LOWER else Bound.UPPER
        nodes, nps, hashfull, time_ms = self._counters()
        info = Info(
            depth=depth,
            seldepth=int(roots["seldepth"][line]),
            multipv=line + 1,
            score=to_score(value),
            bound=bound,
            wdl=win_draw_loss(value) if self._show_wdl else None,
            nodes=nodes,
            nps=nps,
            hashfull=hashfull,
            tbhits=0,
            time_ms=time_ms,
            pv=tuple(self._name(move) for move in roots["pv"][line, : roots["pv_length"][line]]),
        )
        if line == 0:
            self._last_info = info
        self._tell(info)

    def _result(self) -> Result:
        worker = self._worker
        if not worker.root_count:
            return Result(None, None, self._last_info)
        best = worker.root_moves[0]
        move, reply = (int(move) for move in best.pv[:2])
        if best.pv_length < 2:
            reply = 0
        reply = play_expected(self._tables, worker, move, reply)
        return Result(self._name(move), self._name(reply) if reply else None, self._last_info)


def to_score(value: int) -> Score:
    """Turn a search value into a score: centipawns, or moves to mate."""
    if value >= MATE_FOUND:
        return Score(mate=int(MATE - value + 1) // 2)
    if value <= -MATE_FOUND:
        return Score(mate=-(int(MATE + value) // 2))
    return Score(cp=int(value))
