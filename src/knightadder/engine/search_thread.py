"""The threads of a search: their states in the core, their preparation and results, and their vote."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from knightadder.core.api.deepening import deepen, overlooks_at_root, start_search
from knightadder.core.api.playing import play_expected
from knightadder.engine.core_scores import DECISIVE, EXACT, INFINITE, LOWER, MATE_FOUND, UPPER
from knightadder.engine.game import Game, array_of, copy_game
from knightadder.engine.hashtable import HashTable
from knightadder.engine.info import Bound
from knightadder.engine.tablebases.play import Probing, Ranking

NO_NODE_LIMIT = (1 << 63) - 1

_WORST_COUNTS = 14  # centipawns added to each lead over the worst score, so that the worst line has a vote, too

_BOUNDS = {EXACT: Bound.EXACT, LOWER: Bound.LOWER, UPPER: Bound.UPPER}


@dataclass(frozen=True, slots=True)
class Weakness:
    """The errors of a weakened engine in one search, see ``core/search/oversight.py``.

    `oversight` is the chance in 1024ths of overlooking a plain quiet move, `misjudgement` the maximum error of an
    evaluation in centipawns, and `seed` the random seed (64 bits) of these errors.
    """

    oversight: int
    misjudgement: int
    seed: int

    def impose(self, worker: np.record) -> None:
        """Weaken the next search of a worker that `start_search` has prepared."""
        state = array_of(worker)
        state["oversight"], state["misjudgement"], state["weak_seed"] = self.oversight, self.misjudgement, self.seed

    def seen(self, tables: np.record, game: Game, moves: Sequence[int], worker: np.record) -> list[int]:
        """Return the moves that the player sees; all moves if it sees none. The worker must be idle."""
        copy_game(game.record, worker)
        self.impose(worker)
        return [move for move in moves if not overlooks_at_root(tables, worker, move)] or list(moves)


@dataclass(frozen=True, slots=True)
class Root:
    """The data that all threads of a search share. The game must not change during the search.

    `moves` are the root moves in the core's encoding, in the order of `ranking` if tablebases know the position. Every
    thread stops at its next node once the 64-bit word of `stop_flag` is set. `weakness` is None at full strength. A
    thread that reaches its own node limit goes on with some of the `spare_nodes`, an array of one number.
    """

    tables: np.record
    game: Game
    moves: Sequence[int]
    table: HashTable
    stop_flag: NDArray[np.uint64]
    probing: Probing = field(default_factory=Probing)
    ranking: Ranking | None = None
    weakness: Weakness | None = None
    spare_nodes: NDArray[np.int64] | None = None


@dataclass(frozen=True, slots=True)
class Variation:
    """A line of moves in the core's encoding: a root move and its expected continuation.

    `depth` is the depth of the iteration that gave the score, in plies, and `seldepth` the length of its deepest line.
    The score is for the side to move, in centipawns or a mate as the core encodes it.
    """

    depth: int
    seldepth: int
    score: int
    bound: Bound
    moves: tuple[int, ...]

    @property
    def ends_in_tables(self) -> bool:
        """Whether tablebases decide the line: it is won or lost, but the search has found no mate."""
        return DECISIVE <= abs(self.score) < MATE_FOUND


class SearchThread:
    """A thread's search of a position.

    `worker` is the state of the thread. Its histories and corrections are kept between searches. `completed` is the
    depth of the last completed iteration, in plies, and 0 before the first.
    """

    def __init__(self, root: Root, worker: np.record) -> None:
        self.worker, self.completed = worker, 0
        self._root = root
        # These are arrays, because Python reads their fields many times faster than those of a record.
        self._state = array_of(worker)
        self._moves, self._frames = self._state["root_moves"][0], self._state["frames"][0]
        self._prepared = False

    def prepare(self, node_limit: int = NO_NODE_LIMIT) -> None:
        """Set up the state of the thread. The thread itself calls this once, before the first iteration."""
        root, state = self._root, self._state
        copy_game(root.game.record, self.worker)
        moves = self._moves[: len(root.moves)]
        moves["move"] = root.moves
        moves["rank"] = root.ranking.ranks if root.ranking else 0
        start_search(self.worker, len(moves), node_limit)
        if root.weakness is not None:
            root.weakness.impose(self.worker)
        share_memory(state, root.table, root.stop_flag)
        if root.spare_nodes is not None:
            state["spare_nodes_address"] = root.spare_nodes.ctypes.data
        state["tt_generation"] = root.table.generation
        probing = root.probing
        state["tablebases_address"], state["probe_men"] = probing.address, probing.men
        state["probe_depth"], state["fifty_moves"] = probing.depth, probing.fifty_moves
        self._prepared = True

    def deepen(self, first: int, last: int, lines: int = 1, mate_plies: int = 0, pausing: bool = False) -> None:
        """Search the depths from `first` to `last`, as `deepen` in ``core/api/deepening.py`` does."""
        self.completed = deepen(self._root.tables, self.worker, first, last, lines, NO_NODE_LIMIT, mate_plies, pausing)

    # --- Results so far; they are exact between two iterations -------------------------------------------------------

    @property
    def depth(self) -> int:
        """The depth of the present iteration in plies, 0 before the first. Any thread may read it at any time."""
        return int(self._state["root_depth"][0]) if self._prepared else 0

    @property
    def nodes(self) -> int:
        """Number of positions visited so far. Any thread may read it at any time."""
        return int(self._state["nodes"][0]) if self._prepared else 0

    @property
    def tb_hits(self) -> int:
        """Number of positions found in tablebases so far. Any thread may read it at any time."""
        return int(self._state["tb_hits"][0]) if self._prepared else 0

    @property
    def stopped(self) -> bool:
        """Whether an iteration was stopped."""
        return self._prepared and bool(self._state["stopped"][0])

    @property
    def current_move(self) -> tuple[int, int]:
        """The root move being searched, and its place in this iteration, from 0. Any thread may read it at any time."""
        return int(self._frames["move"][0]), int(self._state["root_index"][0])

    @property
    def best_share(self) -> float:
        """The share of all nodes that the best move took."""
        nodes = self._moves["nodes"][: len(self._root.moves)]
        return float(nodes[0] / max(nodes.sum(), 1))

    def line(self, index: int = 0) -> Variation:
        """Return one of the best lines; index 0 is the best."""
        if not self._prepared:  # the state still belongs to an earlier search
            return Variation(1, 0, 0, Bound.EXACT, (self._root.moves[index],))
        moves, depth = self._moves, self.depth
        score, bound = int(moves["score"][index]), int(moves["bound"][index])
        if score == -INFINITE:  # the search stopped before this iteration reached the move
            score, bound, depth = int(moves["previous_score"][index]), EXACT, depth - 1
        if score == -INFINITE:  # the search stopped before the first iteration reached the move
            score = 0
        pv = moves["pv"][index, : moves["pv_length"][index]]
        seldepth = max(int(moves["seldepth"][index]), 1)  # 0 if the search stopped before the move's first score
        line = Variation(max(depth, 1), seldepth, score, _BOUNDS[bound], tuple(pv.tolist()))
        ranking = self._root.ranking
        if ranking and abs(line.score) < MATE_FOUND:
            # The search does not know the tablebase scores of the moves, so only a mate replaces such a score.
            line = replace(line, score=ranking.scores[ranking.moves.index(line.moves[0])], bound=Bound.EXACT)
        return line

    def expected_reply(self, line: Variation) -> int:
        """Return the expected reply to a line's first move, or 0. Call this last, because it may change the position:
        it looks a missing reply up in the hash table.
        """
        if not self._prepared:
            return 0
        if len(line.moves) > 2:  # the game continues after the reply
            return line.moves[1]
        reply = line.moves[1] if len(line.moves) > 1 else 0
        return int(play_expected(self._root.tables, self.worker, line.moves[0], reply))


def share_memory(state: np.ndarray, table: HashTable, stop_flag: NDArray[np.uint64]) -> None:
    """Set the addresses of the hash table and the stop flag in a thread's state, an array of one WORKER."""
    state["stop_address"] = stop_flag.ctypes.data
    state["tt_address"], state["tt_buckets"] = table.address, table.buckets


def vote(lines: Sequence[Variation]) -> int:
    """Return the index of the line to play. `lines` are the best lines of several threads, the main thread's first.

    Each line votes for its first move, with a weight of its depth times the lead of its score over the worst score, as
    in Stockfish. But a mate that a thread has proved is always played. Of the lines that begin with the elected move,
    the main thread's line is chosen, or else the line with the greatest weight.
    """
    scores = [line.score for line in lines]
    best_score, worst_score = max(scores), min(scores)
    if best_score >= MATE_FOUND:
        return scores.index(best_score)
    weights = [(line.score - worst_score + _WORST_COUNTS) * line.depth for line in lines]
    votes: dict[int, int] = defaultdict(int)
    for line, weight in zip(lines, weights, strict=True):
        votes[line.moves[0]] += weight
    max_votes = max(votes.values())
    winners = [index for index, line in enumerate(lines) if votes[line.moves[0]] == max_votes]
    return 0 if 0 in winners else max(winners, key=weights.__getitem__)
