"""Iterative deepening: one thread's searches of a position at increasing depth."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from knightadder.core.entries.game import play_expected
from knightadder.core.entries.search import search_mate, search_root, start_line, start_search
from knightadder.core.search import transposition
from knightadder.engine.game import Game, array_of, copy_game
from knightadder.engine.hashtable import HashTable
from knightadder.engine.info import Bound
from knightadder.engine.tablebases.play import Probing, Ranking

EXACT, INFINITE = int(transposition.EXACT), int(transposition.INFINITE)
MATE_FOUND, DECISIVE = int(transposition.MATE_FOUND), int(transposition.DECISIVE)

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
        One word of 64 bits; every thread stops at its next node after it is set.
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
        self._state = array_of(worker)
        self._moves, self._frames = self._state["root_moves"][0], self._state["frames"][0]
        self._prepared = False

    def prepare(self, node_limit: int) -> None:
        """Set up the thread's state; called once, in the thread itself, before the first iteration."""
        root, worker, state = self._root, self._worker, self._state
        copy_game(root.game.record, worker)
        moves = self._moves[: len(root.moves)]
        moves["move"] = root.moves
        moves["rank"] = root.ranking.ranks if root.ranking else 0
        start_search(worker, len(moves), node_limit)
        state["stop_address"] = root.stop_flag.ctypes.data
        state["tt_address"], state["tt_buckets"] = root.table.address, root.table.buckets
        state["tt_generation"] = root.table.generation
        probing = root.probing
        state["tablebases_address"], state["probe_men"] = probing.address, probing.men
        state["probe_depth"], state["fifty_moves"] = probing.depth, probing.fifty_moves
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
            for line in range(lines):
                start_line(self._worker, self.depth, line)
                while not search_root(self._root.tables, self._worker):
                    on_bound()
                if self.stopped:
                    return
            self.completed = self.depth
            yield self.depth

    def prove_mate(self, moves: int) -> bool:
        """Say whether there is a mate in at most so many moves, and within the depth of the last iteration.

        If there is one, it is the best line now. Longer mates are left to `iterations`.
        """
        return bool(search_mate(self._root.tables, self._worker, self.completed, 2 * moves))

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
        """The root move being searched, and its place in this iteration, from 0; may be read at any time."""
        return int(self._frames["move"][0]), int(self._state["root_index"][0])

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
