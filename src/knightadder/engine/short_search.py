"""Short searches of many positions, one after the other and each from a fresh state.

They have no threads, no clock and no progress reports: for a search of a few milliseconds, all of these cost too much.
They find what `Search` finds with one thread.
"""

import time
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from knightadder.core.entries.analysis import analyse_position, set_up_game
from knightadder.core.entries.game import play_expected
from knightadder.core.layout import MAX_DEPTH
from knightadder.core.worker import WORKER
from knightadder.engine.deepening import (
    DECISIVE,
    MATE_FOUND,
    Deepening,
    Line,
    Root,
    read_line,
)
from knightadder.engine.game import Game, copy_game
from knightadder.engine.hashtable import HashTable
from knightadder.engine.info import Bound, Info, Result
from knightadder.engine.limits import Limits
from knightadder.engine.notation import to_uci
from knightadder.engine.reporting import no_moves, to_score
from knightadder.engine.tablebases.play import (
    Probing,
    Ranking,
    consult,
    play_out,
)
from knightadder.engine.tablebases.registry import Tablebases
from knightadder.engine.wdl import material_of_sets, win_draw_loss
from knightadder.native.memory import zeroed_bytes

_NO_NODE_LIMIT = (1 << 63) - 1


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

    Raises
    ------
    OptionError
        If the machine does not have that much memory.
    """

    def __init__(self, tables: np.record, tablebases: Tablebases, megabytes: int) -> None:
        self._tables, self._tablebases = tables, tablebases
        self._table = HashTable(megabytes)
        self._state = zeroed_bytes(WORKER.itemsize).view(WORKER)
        self._worker = self._state[0]
        position = self._state["stack"][0]  # arrays: Python reads them many times faster than fields of a record
        self._root_moves = self._state["root_moves"][0]
        self._by_type, self._checkers = position["by_type"][0], position["checkers"][:1]
        self._game = Game(tables)  # for what is rarely needed

    def set_up(self, records: NDArray[np.void], index: int, moves: NDArray[np.int64]) -> int:
        """Forget the last position, set up another and play moves from it.

        Parameters
        ----------
        records : array of PACKED
            Positions; the one at `index` must be legal.
        index : int
            The record to use.
        moves : array of int
            The moves, encoded as `play_all` in ``core/entries/game.py`` expects them.

        Returns
        -------
        int
            How many moves were played; fewer than given if the next one is illegal.
        """
        return int(set_up_game(self._tables, self._worker, records, index, moves))

    def search(
        self, limits: Limits, lines: int, stop: NDArray[np.uint64], chess960: bool
    ) -> tuple[tuple[Info, ...], Result]:
        """Search the position that was set up, once.

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
        began = time.perf_counter()
        self._table.clear()
        self._table.age()
        in_check = bool(self._checkers[0])
        by_type = self._by_type.tolist()
        material = material_of_sets(by_type)
        probing, ranking = self._consult_tablebases(lines, by_type[0].bit_count(), limits)
        if ranking:
            found = self._search_ranked(ranking, probing, limits, lines, stop)
        else:
            found = self._search(probing, limits, lines, stop)
        if not found:
            info = no_moves(in_check)
            return (info,), Result(None, None, info)
        seconds = time.perf_counter() - began
        nodes, hashfull = int(self._state["nodes"][0]), self._table.permille_full()
        tb_hits = int(self._state["tb_hits"][0]) + (len(ranking.moves) if ranking else 0)
        infos = tuple(
            Info(
                depth=line.depth,
                seldepth=line.seldepth,
                multipv=rank,
                score=to_score(line.score),
                bound=Bound.EXACT,  # like the last report of any search
                wdl=win_draw_loss(line.score, material),
                nodes=nodes,
                nps=int(nodes / max(seconds, 1e-6)),
                hashfull=hashfull,
                tbhits=tb_hits,
                time_ms=int(seconds * 1000),
                pv=tuple(to_uci(move, chess960) for move in line.moves),
            )
            for rank, line in enumerate(map(self._played_out, found), 1)
        )
        best, reply = found[0].moves[0], self._expected_reply(found[0].moves)
        return infos, Result(to_uci(best, chess960), to_uci(reply, chess960) if reply else None, infos[0])

    def _consult_tablebases(self, lines: int, men: int, limits: Limits) -> tuple[Probing, Ranking | None]:
        largest = self._tablebases.largest
        if limits.mate:  # a tablebase win does not help a user who asks for a mate
            return Probing(), None
        probing = Probing(self._tablebases.address, largest)
        if men > largest:
            return probing, None
        copy_game(self._worker, self._game.record)
        moves = self._game.legal_moves()
        return consult(self._tablebases, self._game, moves, lines, probing) if moves else (probing, None)

    def _search(self, probing: Probing, limits: Limits, lines: int, stop: NDArray[np.uint64]) -> list[Line]:
        """Search all iterations in one call of the core."""
        state = self._state
        state["stop_address"] = stop.ctypes.data
        state["tt_address"], state["tt_buckets"] = self._table.address, self._table.buckets
        state["tablebases_address"], state["probe_men"] = probing.address, probing.men
        state["probe_depth"], state["fifty_moves"] = probing.depth, probing.fifty_moves
        depth = analyse_position(
            self._tables,
            self._worker,
            min(limits.depth or MAX_DEPTH, MAX_DEPTH),
            limits.nodes or _NO_NODE_LIMIT,
            lines,
            2 * (limits.mate or 0),
        )
        return [read_line(self._root_moves, index, depth) for index in range(min(lines, int(state["root_count"][0])))]

    def _search_ranked(
        self, ranking: Ranking, probing: Probing, limits: Limits, lines: int, stop: NDArray[np.uint64]
    ) -> list[Line]:
        """Search among moves that tablebases rank, which the single call does not support."""
        root = Root(self._tables, self._game, ranking.moves, self._table, stop, probing, ranking)
        deepening = Deepening(root, self._worker)
        deepening.prepare(limits.nodes or _NO_NODE_LIMIT)
        lines = min(lines, len(ranking.moves))
        for _ in deepening.iterations(min(limits.depth or MAX_DEPTH, MAX_DEPTH), lines):
            pass
        return [deepening.line(index) for index in range(lines)]

    def _expected_reply(self, line: tuple[int, ...]) -> int:
        """Return the move to expect after the line's first, 0 for none; call it last, since it may play these moves."""
        if len(line) > 2:  # the game continues after the reply
            return line[1]
        return int(play_expected(self._tables, self._worker, line[0], line[1] if len(line) > 1 else 0))

    def _played_out(self, line: Line) -> Line:
        """Extend a line that tablebases decide to the end of the game."""
        if not DECISIVE <= abs(line.score) < MATE_FOUND:
            return line
        copy_game(self._worker, self._game.record)
        return replace(line, moves=play_out(self._tablebases, self._game, line.moves))
