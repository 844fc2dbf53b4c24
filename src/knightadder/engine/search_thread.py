"""The threads of a search: their states in the core, how they are prepared, what they find, and how they vote."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from knightadder.core.api.game import play_expected
from knightadder.core.api.search import forget, start_search
from knightadder.core.search import transposition
from knightadder.engine.game import Game, array_of, copy_game
from knightadder.engine.hashtable import HashTable
from knightadder.engine.info import Bound
from knightadder.engine.tablebases.play import Probing, Ranking

EXACT, INFINITE = int(transposition.EXACT), int(transposition.INFINITE)
MATE_FOUND, DECISIVE = int(transposition.MATE_FOUND), int(transposition.DECISIVE)

NO_NODE_LIMIT = (1 << 63) - 1

_WORST_COUNTS = 14  # centipawns added to every score, so that the vote of the thread with the worst score counts too

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
    stop_flag: NDArray[np.uint64]
    probing: Probing = field(default_factory=Probing)
    ranking: Ranking | None = None


@dataclass(frozen=True, slots=True)
class Variation:
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

    @property
    def ends_in_tables(self) -> bool:
        """Whether tablebases decide it: it is won or lost, but the mate has not been found."""
        return DECISIVE <= abs(self.score) < MATE_FOUND


class SearchThread:
    """One thread's search of a position, by `deepen` of ``core/api/search.py``.

    Parameters
    ----------
    root : Root
        The data shared with the other threads.
    worker : record
        The thread's own state; what it has learnt (histories and corrections) is kept between searches.

    Attributes
    ----------
    worker : record
        The state.
    completed : int
        The last iteration that was completed, in plies, as `deepen` returns it; 0 before the first.
    """

    def __init__(self, root: Root, worker: np.record) -> None:
        self.worker, self.completed = worker, 0
        self._root = root
        # Arrays: Python reads their fields many times faster than those of a record.
        self._state = array_of(worker)
        self._moves, self._frames = self._state["root_moves"][0], self._state["frames"][0]
        self._prepared = False

    def prepare(self, node_limit: int = NO_NODE_LIMIT) -> None:
        """Set up the thread's state; called once, in the thread itself, before the first iteration."""
        root, state = self._root, self._state
        copy_game(root.game.record, self.worker)
        moves = self._moves[: len(root.moves)]
        moves["move"] = root.moves
        moves["rank"] = root.ranking.ranks if root.ranking else 0
        start_search(self.worker, len(moves), node_limit)
        share_memory(state, root.table, root.stop_flag)
        state["tt_generation"] = root.table.generation
        probing = root.probing
        state["tablebases_address"], state["probe_men"] = probing.address, probing.men
        state["probe_depth"], state["fifty_moves"] = probing.depth, probing.fifty_moves
        self._prepared = True

    def forget(self) -> None:
        """Clear what the thread has learnt from earlier searches."""
        forget(self.worker)

    # --- What it knows so far; exact between two iterations ----------------------------------------------------------

    @property
    def depth(self) -> int:
        """The iteration being searched, in plies, 0 before the first; may be read from any thread at any time."""
        return int(self._state["root_depth"][0]) if self._prepared else 0

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

    def line(self, index: int = 0) -> Variation:
        """Return one of the best lines, 0 being the best."""
        if not self._prepared:  # the state is still that of another search
            return Variation(1, 0, 0, Bound.EXACT, (self._root.moves[index],))
        moves, depth = self._moves, self.depth
        score, bound = int(moves["score"][index]), int(moves["bound"][index])
        if score == -INFINITE:  # the search stopped before this iteration reached the move
            score, bound, depth = int(moves["previous_score"][index]), EXACT, depth - 1
        if score == -INFINITE:  # the search stopped before the first iteration reached it
            score = 0
        pv = moves["pv"][index, : moves["pv_length"][index]]
        line = Variation(max(depth, 1), int(moves["seldepth"][index]), score, _BOUNDS[bound], tuple(pv.tolist()))
        ranking = self._root.ranking
        if ranking and abs(line.score) < MATE_FOUND:
            # Search knows which moves to choose from, but not why: only a mate improves on the tablebases' score.
            line = replace(line, score=ranking.scores[ranking.moves.index(line.moves[0])], bound=Bound.EXACT)
        return line

    def expected_reply(self, line: Variation) -> int:
        """Return the move to expect after a line's first, 0 for none; call it last, since it may play these moves."""
        if not self._prepared:
            return 0
        if len(line.moves) > 2:  # the game continues after the reply
            return line.moves[1]
        reply = line.moves[1] if len(line.moves) > 1 else 0
        return int(play_expected(self._root.tables, self.worker, line.moves[0], reply))


def share_memory(state: np.ndarray, table: HashTable, stop_flag: NDArray[np.uint64]) -> None:
    """Tell a thread's state, an array of one WORKER, where the hash table is, and the flag that ends its search."""
    state["stop_address"] = stop_flag.ctypes.data
    state["tt_address"], state["tt_buckets"] = table.address, table.buckets


def vote(lines: Sequence[Variation]) -> int:
    """Choose one of several threads' best lines.

    Each line votes for its first move, with a weight of its depth times how much its score exceeds the worst of all.
    The formula is Stockfish's. One exception: a mate that one thread has proved is played, whatever the votes.

    Parameters
    ----------
    lines : sequence of Variation
        At least one, the main thread's first; that one is chosen if its move wins.

    Returns
    -------
    int
        Index of the line chosen.
    """
    scores = [line.score for line in lines]
    best_score, worst_score = max(scores), min(scores)
    if best_score >= MATE_FOUND:
        return scores.index(best_score)
    weights = [(line.score - worst_score + _WORST_COUNTS) * line.depth for line in lines]
    votes: dict[int, int] = defaultdict(int)
    for line, weight in zip(lines, weights, strict=True):
        votes[line.moves[0]] += weight
    most = max(votes.values())
    winners = [index for index, line in enumerate(lines) if votes[line.moves[0]] == most]
    return 0 if 0 in winners else max(winners, key=weights.__getitem__)
