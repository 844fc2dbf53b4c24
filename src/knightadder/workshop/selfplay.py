"""Games of the engine against itself within one process, each side with its own search parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from knightadder.core.layout import MAX_DEPTH, WORKER
from knightadder.core.native.memory import zeroed_bytes
from knightadder.engine.deepening import Deepening, Line, Root
from knightadder.engine.ending import Ending
from knightadder.engine.evaluator import Evaluator
from knightadder.engine.game import Game
from knightadder.engine.hashtable import HashTable
from knightadder.engine.settlement import stayed_within

if TYPE_CHECKING:
    from knightadder.workshop.openings import BookLine

WIN, DRAW, LOSS = 1, 0, -1

# A game is decided if, for this number of plies, both sides agree that one is this far ahead (in centipawns), or that
# neither is.
RESIGN_SCORE, RESIGN_PLIES = 1000, 5
DRAW_SCORE, DRAW_PLIES = 8, 12
DRAW_FROM = 80  # plies of the game, including its opening


class StoppedError(Exception):
    """A game was aborted."""


class SelfPlay:
    """Plays one game after the other.

    Nothing is kept from game to game, so the same parameters give the same games.

    Parameters
    ----------
    nodes : int
        Nodes searched for each move.
    megabytes : int
        Size of each side's hash table.

    Raises
    ------
    OptionError
        If the machine has too little memory.
    """

    def __init__(self, nodes: int, megabytes: int) -> None:
        self._nodes = nodes
        self._stop = np.zeros(1, np.uint64)
        self._sides = [_Side(megabytes) for _ in range(2)]
        self._game = Game(self._sides[0].tables)  # the rules do not depend on the parameters

    def stop(self) -> None:
        """Abort the running game and play no more; may be called from any thread."""
        self._stop[0] = 1

    def play_pair(self, opening: BookLine, first: Mapping[str, int], second: Mapping[str, int]) -> tuple[int, int]:
        """Play an opening with both colours, and return the results.

        Parameters
        ----------
        opening : BookLine
            The start of both games.
        first, second : mapping of str to int
            The values of search parameters, by name; others keep their last value, at first that of
            ``core/search/parameters.py``.

        Returns
        -------
        tuple of int
            The results for the first set, as White and as Black: `WIN`, `DRAW` or `LOSS`.

        Raises
        ------
        StoppedError
            If the game was aborted.
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
            line = sides[mover].search(game, game.legal_moves(), self._nodes, self._stop)
            if self._stop[0]:
                raise StoppedError
            scores.append(-line.score if mover else line.score)
            game.push(line.moves[0])
        if ending is not Ending.CHECKMATE:
            return DRAW
        return WIN if game.side_to_move else LOSS


class _Side:
    """The state of a player: parameters, a hash table, and what its search learns in a game."""

    def __init__(self, megabytes: int) -> None:
        self.tables = Evaluator().tables
        self._table = HashTable(megabytes)
        self._memory = zeroed_bytes(WORKER.itemsize)

    def set_parameters(self, values: Mapping[str, int]) -> None:
        parameters = self.tables.parameters
        for name, value in values.items():
            setattr(parameters, name, value)

    def new_game(self) -> None:
        """Forget the last game."""
        self._table.clear(threads=1)
        self._memory.fill(0)

    def search(self, game: Game, moves: Sequence[int], nodes: int, stop: np.ndarray) -> Line:
        """Return the line of the best of these moves."""
        self._table.age()
        deepening = Deepening(Root(self.tables, game, moves, self._table, stop), self._memory.view(WORKER)[0])
        deepening.prepare(nodes)
        for _ in deepening.iterations(MAX_DEPTH):
            pass
        return deepening.line()


def adjudicate(scores: Sequence[int], plies: int) -> int | None:
    """Return the result of a game if the scores of both sides decide it.

    Parameters
    ----------
    scores : sequence of int
        The score of each move, in centipawns from White's view.
    plies : int
        Length of the game, including its opening.

    Returns
    -------
    int or None
        White's result; None while the game goes on.
    """
    if stayed_within(scores, RESIGN_PLIES, RESIGN_SCORE + 1, math.inf):
        return WIN
    if stayed_within(scores, RESIGN_PLIES, -math.inf, -RESIGN_SCORE - 1):
        return LOSS
    if plies >= DRAW_FROM and stayed_within(scores, DRAW_PLIES, -DRAW_SCORE, DRAW_SCORE):
        return DRAW
    return None
