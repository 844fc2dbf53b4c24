"""Reports of a search to its listener: lines of analysis, the current move, and messages."""

import contextlib
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from typing import TypeAlias

from knightadder.engine.core_scores import to_score
from knightadder.engine.hashtable import HashTable
from knightadder.engine.info import Bound, CurrentMove, Info, Message, Score
from knightadder.engine.notation import to_uci
from knightadder.engine.search_thread import SearchThread, Variation
from knightadder.engine.wdl import win_draw_loss

Report: TypeAlias = Callable[[Info | CurrentMove | Message], None]


class Reporter:
    """Reports a search to a listener, in UCI's notation and units.

    The nodes of `threads` are counted. `material` is the material on the board, counted by `wdl.material_of_sets`.
    `started` is the value of `time.perf_counter` when the search began, and `root_hits` the number of tablebase hits
    before the threads started. `last_info` is the latest report of the best line.
    """

    def __init__(
        self,
        listener: Report,
        threads: Sequence[SearchThread],
        table: HashTable,
        chess960: bool,
        show_wdl: bool,
        material: int,
        started: float,
        root_hits: int = 0,
    ) -> None:
        self.last_info: Info | None = None
        self._listener, self._threads, self._table, self._started = listener, threads, table, started
        self._chess960, self._show_wdl = chess960, show_wdl
        self._material = material
        self._root_hits = root_hits
        self._speaking = threading.Lock()  # held for all lines of an iteration, so that no current move separates them
        self._ended = False

    def tell(self, news: Info | CurrentMove | Message) -> None:
        """Pass on a report. An error in the listener does not end the search."""
        try:
            self._listener(news)
        except Exception:
            with contextlib.suppress(Exception):  # standard error may be closed
                traceback.print_exc()

    def name(self, move: int) -> str:
        """Return a move in UCI notation."""
        return to_uci(move, self._chess960)

    def lines(self, lines: Sequence[Variation]) -> None:
        """Report the lines, best first."""
        with self._speaking:
            nodes, nps, hashfull, time_ms = self._counters()
            tb_hits = self._root_hits + sum(thread.tb_hits for thread in self._threads)
            infos = [
                Info(
                    depth=line.depth,
                    seldepth=line.seldepth,
                    multipv=rank,
                    score=to_score(line.score),
                    bound=line.bound,
                    wdl=win_draw_loss(line.score, self._material) if self._show_wdl else None,
                    nodes=nodes,
                    nps=nps,
                    hashfull=hashfull,
                    tbhits=tb_hits,
                    time_ms=time_ms,
                    pv=tuple(self.name(move) for move in line.moves),
                )
                for rank, line in enumerate(lines, 1)
            ]
            self.last_info = infos[0]
            for info in infos:
                self.tell(info)

    def current_move(self, depth: int, move: int, index: int) -> None:
        """Report the root move being searched and its place among the root moves, from 0. After `end`, do nothing."""
        with self._speaking:
            if not self._ended:
                nodes, nps, hashfull, time_ms = self._counters()
                self.tell(CurrentMove(depth, self.name(move), index + 1, nodes, nps, hashfull, time_ms))

    def end(self) -> None:
        """Report no current move from now on. Wait until a report in progress has been made."""
        with self._speaking:
            self._ended = True

    def nodes(self) -> int:
        """Return the number of nodes of all threads."""
        return sum(thread.nodes for thread in self._threads)

    def _counters(self) -> tuple[int, int, int, int]:
        """Return the nodes of all threads, nodes per second, per mille of the hash table in use, and milliseconds."""
        elapsed = time.perf_counter() - self._started
        nodes = self.nodes()
        return nodes, int(nodes / max(elapsed, 1e-6)), self._table.permille_full(), int(elapsed * 1000)


def no_moves(in_check: bool) -> Info:
    """Return the report for a position that is checkmate or stalemate."""
    score = Score(mate=0) if in_check else Score(cp=0)
    return Info(0, 0, 1, score, Bound.EXACT, None, 0, 0, 0, 0, 0, ())
