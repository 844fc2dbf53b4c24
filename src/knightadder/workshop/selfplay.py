"""Games of the engine against itself in one process; each side has its own search parameters."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from knightadder.core.layout import MAX_DEPTH
from knightadder.core.worker import WORKER
from knightadder.engine.evaluator import Evaluator
from knightadder.engine.game import Game
from knightadder.engine.hashtable import HashTable
from knightadder.engine.info import Ending, Result
from knightadder.engine.limits import Limits
from knightadder.engine.options import Options
from knightadder.engine.running_search import Player, Search
from knightadder.engine.search_thread import Root, SearchThread
from knightadder.engine.settlement import stayed_within
from knightadder.engine.tablebases.registry import Tablebases
from knightadder.engine.timeman import Progress
from knightadder.native.memory import zeroed_bytes
from knightadder.workshop.match.time_control import Allowance, SideClock

if TYPE_CHECKING:
    from knightadder.workshop.opening_book import BookLine

WIN, DRAW, LOSS = 1, 0, -1

# A game is decided if both sides' scores stay, for this many plies, beyond RESIGN_SCORE for the same side, or within
# DRAW_SCORE of zero (in centipawns).
RESIGN_SCORE, RESIGN_PLIES = 1000, 5
DRAW_SCORE, DRAW_PLIES = 8, 12
DRAW_FROM = 80  # ply from which draws are possible, counted from the start of the opening's moves

_STOP_SECONDS = 0.2  # seconds until a search with a clock notices that its game was aborted

_MATE_SCORE = 30_000  # centipawns that stand for a mate, far beyond `RESIGN_SCORE`


class StoppedError(Exception):
    """Raised if a game was aborted."""


class SelfPlay:
    """Plays one game after another.

    Both sides have the same limits: a clock, or else a number of nodes for each move. Except in real time, the same
    parameters give the same games, because games are independent. A side whose flag falls loses. `megabytes` is the
    size of each side's hash table; OptionError if the machine has too little memory.
    """

    def __init__(self, allowance: Allowance, megabytes: int) -> None:
        self._stop = np.zeros(1, np.uint64)
        kind = _ClockSide if allowance.time_control else _NodesSide
        self._sides: list[_Side] = [kind(megabytes, allowance) for _ in range(2)]
        self._game = Game(self._sides[0].tables)  # the rules do not depend on the parameters

    def stop(self) -> None:
        """Abort the running game and start no other game; may be called from any thread."""
        self._stop[0] = 1

    def play_pair(self, opening: BookLine, first: Mapping[str, int], second: Mapping[str, int]) -> tuple[int, int]:
        """Play an opening with both colours, and return the results of the first parameters, as White and as Black.
        Parameters that are not given keep their last values, at first those of ``core/search/parameters.py``.
        """
        for side, values in zip(self._sides, (first, second), strict=True):
            side.set_parameters(values)
        return self._play(opening, self._sides), -self._play(opening, self._sides[::-1])

    def _play(self, opening: BookLine, sides: Sequence[_Side]) -> int:
        """Play a game, with the first side as White, and return White's result."""
        game = self._game
        game.set_up(opening.fen, opening.moves)
        for side in sides:
            side.new_game()
        scores: list[int] = []
        while (ending := game.ending()) is None:
            result = adjudicate(scores, len(opening.moves) + len(scores))
            if result is not None:
                return result
            mover = game.side_to_move
            answer = sides[mover].think(game, self._stop)
            if self._stop[0]:
                raise StoppedError
            if answer is None:  # the flag has fallen
                return WIN if mover else LOSS
            move, score = answer
            scores.append(-score if mover else score)
            game.push(move)
        if ending is not Ending.CHECKMATE:
            return DRAW
        return WIN if game.side_to_move else LOSS


class _Side(ABC):
    """The state of a player: parameters, a hash table, and the history tables of its search."""

    def __init__(self, megabytes: int) -> None:
        self.tables = Evaluator().tables
        self._table = HashTable(megabytes)
        self._memory = zeroed_bytes(WORKER.itemsize)

    def set_parameters(self, values: Mapping[str, int]) -> None:
        parameters = self.tables.parameters
        for name, value in values.items():
            setattr(parameters, name, value)

    def new_game(self) -> None:
        self._table.clear()
        self._memory.fill(0)

    @abstractmethod
    def think(self, game: Game, stop: np.ndarray) -> tuple[int, int] | None:
        """Return the best move, and its score in centipawns for the side to move; None if its flag has fallen.
        The game is not over. If the item of `stop` becomes 1, the game is aborted, and the result is ignored.
        """


class _NodesSide(_Side):
    """A player that searches a fixed number of nodes for each move."""

    def __init__(self, megabytes: int, allowance: Allowance) -> None:
        super().__init__(megabytes)
        assert allowance.nodes
        self._nodes = allowance.nodes

    def think(self, game: Game, stop: np.ndarray) -> tuple[int, int]:
        self._table.age()
        root = Root(self.tables, game, game.legal_moves(), self._table, stop)
        thread = SearchThread(root, self._memory.view(WORKER)[0])
        thread.prepare(self._nodes)
        thread.deepen(1, MAX_DEPTH)
        line = thread.line()
        return line.moves[0], line.score


class _ClockSide(_Side):
    """A player with a clock, which allots its time as the engine does in any game."""

    def __init__(self, megabytes: int, allowance: Allowance) -> None:
        super().__init__(megabytes)
        self._allowance = allowance
        worker = self._memory.view(WORKER)[0]
        self._player = Player(self.tables, [worker], self._table, Tablebases(self.tables))
        self._options = Options()
        self._options.set("nodestime", str(allowance.node_time))

    def new_game(self) -> None:
        super().new_game()
        self._clock = SideClock(self._allowance)
        self._progress = Progress()  # of the search for the side's last move

    def think(self, game: Game, stop: np.ndarray) -> tuple[int, int] | None:
        control = self._allowance.time_control
        assert control
        left, increment = (round(1000 * seconds) for seconds in (self._clock.allowed or 0.0, control.increment))
        limits = Limits(wtime=left, btime=left, winc=increment, binc=increment, movestogo=self._clock.moves_left)
        results: list[Result] = []
        started = perf_counter()
        progress = self._progress.of_next_search(2)
        search = Search(self._player, game, limits, self._options, lambda info: None, results.append, progress)
        search.start()
        while not results and search.running:
            search.wait(_STOP_SECONDS)
            if stop[0]:
                search.stop()
        [result] = results
        self._progress = search.progress
        remaining = self._clock.charge(perf_counter() - started, result.info.nodes if result.info else 0)
        if remaining is not None and remaining < -self._allowance.margin:
            return None
        assert result.best_move is not None  # there are legal moves
        score = result.info.score if result.info else None
        if score is None:
            value = 0
        elif score.mate is None:
            value = score.cp or 0
        else:
            value = _MATE_SCORE if score.mate > 0 else -_MATE_SCORE
        return game.find(result.best_move), value


def adjudicate(scores: Sequence[int], plies: int) -> int | None:
    """Return White's result if the scores of both sides decide a game, else None.
    The scores, one for each move, are in centipawns from White's view; `plies` includes the moves of the opening.
    """
    if stayed_within(scores, RESIGN_PLIES, RESIGN_SCORE + 1, math.inf):
        return WIN
    if stayed_within(scores, RESIGN_PLIES, -math.inf, -RESIGN_SCORE - 1):
        return LOSS
    if plies >= DRAW_FROM and stayed_within(scores, DRAW_PLIES, -DRAW_SCORE, DRAW_SCORE):
        return DRAW
    return None
