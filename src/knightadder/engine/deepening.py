"""Iterative deepening: one thread's searches of a position at increasing depth, in aspiration windows."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np

from knightadder.core.entries.game import play_expected
from knightadder.core.layout import MAX_PLY
from knightadder.core.search import transposition
from knightadder.core.search.root import ASPIRATION_FROM, ASPIRATION_WINDOW, search_root
from knightadder.engine.game import Game, copy_game
from knightadder.engine.hashtable import HashTable
from knightadder.engine.info import Bound
from knightadder.engine.tablebases.play import Probing, Ranking

EXACT, INFINITE = int(transposition.EXACT), int(transposition.INFINITE)
MATE_FOUND, DECISIVE = int(transposition.MATE_FOUND), int(transposition.DECISIVE)

MAX_DEPTH = MAX_PLY - 64  # plies; extensions may go deeper

_BOUNDS = {
    EXACT: Bound.EXACT,
    int(transposition.LOWER): Bound.LOWER,
    int(transposition.UPPER): Bound.UPPER,
}


@dataclass(frozen=True, slots=True)
class Root:
    """The data that all threads of a search share.

    Attributes
    ----------
    tables : record
        The core's read-only tables.
    game : Game
        The position to search; it must not change during the search.
    moves : sequence of int
        The moves to choose from, in the core's encoding.
    table : HashTable
        The transposition table.
    stop_flag : array
        One word of 64 bits; every thread stops soon after it is set.
    probing : Probing
        When search probes tablebases.
    ranking : Ranking or None
        The tablebases' ranking of the moves, which are then in that order.
    """

    tables: np.record
    game: Game
    moves: Sequence[int]
    table: HashTable
    stop_flag: np.ndarray
    probing: Probing = field(default_factory=Probing)
    ranking: Ranking | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """A root move and its expected continuation.

    Attributes
    ----------
    depth, seldepth : int
        Plies of the iteration that the score comes from, and of its deepest line.
    score : int
        Centipawns, or a mate as the core encodes it, for the side to move.
    bound : Bound
        How the score relates to the true score.
    moves : tuple of int
        In the core's encoding; at least one.
    """

    depth: int
    seldepth: int
    score: int
    bound: Bound
    moves: tuple[int, ...]


class Deepening:
    """One thread's search of a position.

    Parameters
    ----------
    root : Root
        The data shared with the other threads.
    worker : record
        The thread's own state; what it has learnt (histories and corrections) is kept between searches.

    Attributes
    ----------
    depth, completed : int
        The iteration being searched and the last one completed, in plies; 0 before the first.
    """

    def __init__(self, root: Root, worker: np.record) -> None:
        self.depth = self.completed = 0
        self._root, self._worker = root, worker
        # Arrays: Python reads their fields many times faster than those of a record.
        self._state, self._moves = cast(np.ndarray, worker.base), worker.root_moves
        self._prepared = False

    def prepare(self, node_limit: int) -> None:
        """Set up the thread's state; called once, in the thread itself, before the first iteration."""
        root, worker = self._root, self._worker
        copy_game(root.game.record, worker)
        count = worker.root_count = len(root.moves)
        self._moves[:count] = np.zeros((), self._moves.dtype)
        moves = self._moves[:count]
        moves["move"] = moves["pv"][:, 0] = root.moves
        moves["pv_length"] = 1
        moves["score"] = moves["previous_score"] = -INFINITE
        if root.ranking:
            moves["rank"] = root.ranking.ranks
        worker.nodes = worker.seldepth = worker.stopped = worker.null_from_ply = 0
        worker.root_index = worker.pv_index = 0
        worker.node_limit = node_limit
        worker.stop_address = root.stop_flag.ctypes.data
        worker.tt_address, worker.tt_buckets = root.table.address, root.table.buckets
        worker.tt_generation = root.table.generation
        probing = root.probing
        worker.tablebases_address, worker.probe_men = probing.address, probing.men
        worker.probe_depth, worker.fifty_moves = probing.depth, probing.fifty_moves
        worker.tb_hits = 0
        self._prepared = True

    def iterations(self, deepest: int, lines: int = 1, on_bound: Callable[[], None] = lambda: None) -> Iterator[int]:
        """Search at increasing depth, and yield each completed depth.

        Parameters
        ----------
        deepest : int
            The last depth, in plies.
        lines : int
            Number of best moves to find; at most the number of root moves.
        on_bound : callable
            Called when a score is outside its aspiration window.

        Yields
        ------
        int
            The depth just completed. The iterator ends once the stop flag is set or the node limit is reached.
        """
        for self.depth in range(1, deepest + 1):
            self._moves["previous_score"] = self._moves["score"]
            for line in range(lines):
                self._search_line(line, on_bound)
                if self.stopped:
                    return
            self.completed = self.depth
            yield self.depth
            # The core polls the flag only once in many nodes; a small tree may have fewer.
            if self._root.stop_flag[0]:
                return

    def _search_line(self, line: int, on_bound: Callable[[], None]) -> None:
        """Search for the `line`-th best move, in an aspiration window around its last score."""
        self._state["pv_index"] = line
        self._state["seldepth"] = 0
        alpha, beta = -INFINITE, INFINITE
        window = ASPIRATION_WINDOW
        center = int(self._moves["previous_score"][line])
        if self.depth >= ASPIRATION_FROM and abs(center) < DECISIVE:
            alpha, beta = max(center - window, -INFINITE), min(center + window, INFINITE)
        while True:
            score = int(search_root(self._root.tables, self._worker, self.depth, alpha, beta))
            if self.stopped or alpha < score < beta:
                break
            on_bound()
            # A mate score needs no narrow window, and reaching it by widening one would take long.
            window = INFINITE if abs(score) >= DECISIVE else window * 2
            if score <= alpha:
                beta = (alpha + beta) // 2
                alpha = max(score - window, -INFINITE)
            else:
                beta = min(score + window, INFINITE)
        if line:
            # A line found later may be better than the earlier ones.
            best_first = np.lexsort((-self._moves["score"][: line + 1], -self._moves["rank"][: line + 1]))
            self._moves[: line + 1] = self._moves[: line + 1][best_first]

    # --- What it knows so far; exact between two iterations ----------------------------------------------------------

    @property
    def nodes(self) -> int:
        """Positions visited so far; may be read from any thread at any time."""
        return int(self._state["nodes"][0]) if self._prepared else 0

    @property
    def tb_hits(self) -> int:
        """Positions found in tablebases so far; may be read from any thread at any time."""
        return int(self._state["tb_hits"][0]) if self._prepared else 0

    @property
    def stopped(self) -> bool:
        """Whether an iteration was aborted."""
        return self._prepared and bool(self._state["stopped"][0])

    @property
    def current_move(self) -> tuple[int, int]:
        """The root move being searched, and its index, from 0; may be read at any time."""
        index = int(self._state["root_index"][0])
        return int(self._moves["move"][index]), index

    @property
    def best_share(self) -> float:
        """The share of all nodes that was spent on the best move."""
        nodes = self._moves["nodes"][: len(self._root.moves)]
        return float(nodes[0] / max(nodes.sum(), 1))

    def line(self, index: int = 0) -> Line:
        """Return one of the best lines, 0 being the best."""
        if not self._prepared:  # the state is still that of another search
            return Line(1, 0, 0, Bound.EXACT, (self._root.moves[index],))
        line = read_line(self._moves, index, self.depth)
        ranking = self._root.ranking
        if ranking and abs(line.score) < MATE_FOUND:
            # Search knows which moves to choose from, but not why: only a mate improves on the tablebases' score.
            line = replace(line, score=ranking.scores[ranking.moves.index(line.moves[0])], bound=Bound.EXACT)
        return line

    def expected_reply(self, line: Line) -> int:
        """Return the move to expect after a line's first, 0 for none; call it last, since it plays these moves."""
        if not self._prepared:
            return 0
        reply = line.moves[1] if len(line.moves) > 1 else 0
        return int(play_expected(self._root.tables, self._worker, line.moves[0], reply))


def read_line(moves: np.ndarray, index: int, depth: int) -> Line:
    """Read one of the best lines from a search's root moves.

    Parameters
    ----------
    moves : array of ROOT_MOVE
        The root moves, best lines first.
    index : int
        Which line, 0 being the best.
    depth : int
        The last iteration, in plies.
    """
    score, bound = int(moves["score"][index]), int(moves["bound"][index])
    if score == -INFINITE:  # the search stopped before this iteration reached the move
        score, bound, depth = int(moves["previous_score"][index]), EXACT, max(depth - 1, 1)
    if score == -INFINITE:  # the search stopped before the first iteration reached it
        score = 0
    pv = moves["pv"][index, : moves["pv_length"][index]]
    return Line(depth, int(moves["seldepth"][index]), score, _BOUNDS[bound], tuple(pv.tolist()))
