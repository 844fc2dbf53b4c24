"""The clock of a search: a thread that stops the search when its time is up, and the requests to stop it earlier."""

import threading
import time

import numpy as np
from numpy.typing import NDArray

from knightadder.engine.errors import EngineError
from knightadder.engine.info import Message
from knightadder.engine.limits import Limits
from knightadder.engine.reporting import Reporter
from knightadder.engine.search_thread import SearchThread
from knightadder.engine.threads import start_thread

TICK = 0.1  # seconds between checks of the clock and the current move
_SHOW_DETAILS_AFTER = 3.0  # seconds; earlier reports of current moves and bounds would flood the interface
_GRACE = 0.05  # seconds that the first iteration may go on after a stop; it usually takes less than a millisecond


class SearchClock:
    """Sets the stop flag of a search, and tells the search when it may give its result. Any thread may call it.

    `hard` is the time in milliseconds after which the search stops, or None. It counts from the ponder hit, or else
    from `started`, by `time.perf_counter`. `main` is the main thread, whose current move is reported from time to time.
    """

    def __init__(
        self,
        limits: Limits,
        hard: float | None,
        started: float,
        stop_flag: NDArray[np.uint64],
        main: SearchThread,
        reporter: Reporter,
    ) -> None:
        self._hard, self._started, self._runs_from = hard, started, started
        self._stop_flag, self._main, self._reporter = stop_flag, main, reporter
        self._unlimited = limits.unlimited
        self._pondering = limits.ponder
        self._held = limits.ponder or limits.unlimited
        self._stop_on_ponder_hit = False
        self._stopped_at: float | None = None  # time of the request to stop
        self._released = False
        self._changed = threading.Condition()  # guards the attributes above
        self._starting = threading.Lock()
        self._has_thread = False

    @property
    def needed(self) -> bool:
        """Whether the thread is needed from the start. A short search with a limit of nodes or depth never starts it,
        because starting a thread would take longer than the search.
        """
        return self._hard is not None or self._held or self.stopping

    @property
    def stopping(self) -> bool:
        """Whether the search has been asked to stop, or its time is up."""
        return self._stopped_at is not None

    @property
    def held(self) -> bool:
        """Whether the result must wait for a stop or the ponder hit."""
        return self._held

    @property
    def elapsed(self) -> float:
        """Seconds since the search began."""
        return time.perf_counter() - self._started

    @property
    def shows_details(self) -> bool:
        """Whether the search is long enough for reports of current moves and bounds."""
        return self.elapsed > _SHOW_DETAILS_AFTER

    def start(self) -> None:
        """Start the thread that watches the clock, unless it has been started."""
        with self._starting:
            if self._has_thread:
                return
            self._has_thread = True
            try:
                start_thread(self._keep_time, "clock")
            except EngineError:
                self._reporter.tell(Message("no thread could be started to watch the clock"))
                if self._hard is not None:
                    self._stop_soon()

    def stop(self) -> None:
        """Ask the search to stop, and release its result. The thread must run to end a first iteration that takes too
        long.
        """
        with self._changed:
            self._held = self._pondering = False
            self._stop_soon()
            self._changed.notify_all()

    def ponder_hit(self) -> bool:
        """Let the time count from now on, because the opponent has played the expected move. Return False if the search
        was not pondering.
        """
        with self._changed:
            if not self._pondering:
                return False
            self._pondering = False
            self._held = self._unlimited
            self._runs_from = time.perf_counter()
            if self._stop_on_ponder_hit:
                self._stop_soon()
            self._changed.notify_all()
            return True

    def may_end(self, enough: bool) -> bool:
        """Return whether the search may end because it is long enough. While pondering, it ends at the ponder hit."""
        with self._changed:
            if self._pondering:
                self._stop_on_ponder_hit = enough
                return False
        return enough

    def await_release(self) -> None:
        """Wait until the result may be given. No current move is reported afterwards."""
        with self._changed:
            while self._held:
                self._changed.wait()
            self._released = True
            self._changed.notify_all()
        self._reporter.end()

    def _stop_soon(self) -> None:
        """Stop all threads. The first iteration may still finish if it is fast, because it gives a better move."""
        if self._stopped_at is None:
            self._stopped_at = time.perf_counter()
        if self._main.completed or self._main.depth > 1:
            self._stop_flag[0] = 1

    def _keep_time(self) -> None:
        shown = (0, 0, 0)
        while True:
            with self._changed:
                if self._released:
                    return
                self._changed.wait(self._check())
                searching = self._main.depth > 0 and not self._stop_flag[0]
            # The lock is released before the report, because the report blocks if nobody reads it, and a stop must
            # not wait for it.
            if searching and self.shows_details:
                depth, (move, index) = self._main.depth, self._main.current_move
                # The move of a long search may be the same for minutes, but its nodes and time are not.
                if (now := (depth, move, int(self.elapsed))) != shown:
                    shown = now
                    self._reporter.current_move(depth, move, index)

    def _check(self) -> float:
        """Stop the search if the time is up; return the seconds until the next check."""
        now = time.perf_counter()
        if not self.stopping and self._hard is not None and not self._pondering:
            left = self._runs_from + self._hard / 1000 - now
            if left > 0:
                return min(TICK, left)
            self._stop_soon()
        if self._stopped_at is None or self._stop_flag[0]:
            return TICK
        left = self._stopped_at + _GRACE - now
        if left <= 0:
            self._stop_flag[0] = 1
            return TICK
        return left
