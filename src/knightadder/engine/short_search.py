"""Short searches of many positions, one after the other and each from a fresh state.

They have no threads, no clock and no reports on the way: for a search of a few milliseconds, all of these cost too
much. They find what `Search` finds with one thread.
"""

import time
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from knightadder.core.api.search import deepen
from knightadder.core.layout import MAX_DEPTH
from knightadder.core.worker import WORKER
from knightadder.engine.game import Game
from knightadder.engine.hashtable import HashTable
from knightadder.engine.info import Bound, Info, Result
from knightadder.engine.limits import Limits
from knightadder.engine.reporting import Reporter, no_moves
from knightadder.engine.search_thread import NO_NODE_LIMIT, Root, SearchThread
from knightadder.engine.tablebases.play import Probing, consult, play_out
from knightadder.engine.tablebases.registry import Tablebases
from knightadder.native.records import new_record


class ShortSearch:
    """Searches positions one after another, in one thread.

    Parameters
    ----------
    tables : record
        The core's read-only tables.
    tablebases : Tablebases
        Endgame tables; other threads may use them at the same time.
    megabytes : int
        Size of the hash table, which is cleared for every position.

    Attributes
    ----------
    game : Game
        The position to search.

    Raises
    ------
    OptionError
        If the machine does not have that much memory.
    """

    def __init__(self, tables: np.record, tablebases: Tablebases, megabytes: int) -> None:
        self.game = Game(tables)
        self._tables, self._tablebases = tables, tablebases
        self._table = HashTable(megabytes)
        self._worker = new_record(WORKER)

    def search(
        self, limits: Limits, lines: int, stop: NDArray[np.uint64], chess960: bool
    ) -> tuple[tuple[Info, ...], Result]:
        """Search the position once.

        Parameters
        ----------
        limits : Limits
            Depth, nodes and mate; the caller takes care of all other limits.
        lines : int
            Number of best lines to find.
        stop : array
            One word of 64 bits; the search ends soon after it is set.
        chess960 : bool
            Whether castling is written as king takes rook.

        Returns
        -------
        tuple
            The lines, the best first; and the result, which contains the first of them.
        """
        started = time.perf_counter()
        tables, tablebases, table, game = self._tables, self._tablebases, self._table, self.game
        moves = game.legal_moves()
        if not moves:
            info = no_moves(game.in_check)
            return (info,), Result(None, None, info)
        # A tablebase win does not help a user who asks for a mate.
        probing = Probing() if limits.mate else Probing(tablebases.address, tablebases.largest)
        probing, ranking = consult(tablebases, game, moves, lines, probing)
        root = Root(tables, game, ranking.moves if ranking else moves, table, stop, probing, ranking)
        table.clear()
        table.age()
        thread = SearchThread(root, self._worker)
        thread.forget()
        thread.prepare(limits.nodes or NO_NODE_LIMIT)
        depth, lines = min(limits.depth or MAX_DEPTH, MAX_DEPTH), min(lines, len(root.moves))
        deepen(tables, thread.worker, 1, depth, lines, NO_NODE_LIMIT, 2 * (limits.mate or 0), False)
        found = [thread.line(index) for index in range(lines)]
        hits = len(ranking.moves) if ranking else 0
        reporter = Reporter(lambda news: None, [thread], table, chess960, True, game.material, started, hits)
        shown = [
            replace(
                line,
                bound=Bound.EXACT,  # like the last report of any search
                moves=play_out(tablebases, game, line.moves) if line.ends_in_tables else line.moves,
            )
            for line in found
        ]
        infos = reporter.describe(shown)
        best, reply = found[0].moves[0], thread.expected_reply(found[0])
        return infos, Result(reporter.name(best), reporter.name(reply) if reply else None, infos[0])
