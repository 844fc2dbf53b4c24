"""Play by endgame tablebases: when search asks them, the moves of a position ranked, a line played out to mate."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from knightadder.core.layout import MAX_PLY
from knightadder.core.search import transposition
from knightadder.engine.game import Game
from knightadder.engine.tablebases.registry import Tablebases

TABLEBASE_WIN = int(transposition.TABLEBASE_WIN)

_FIFTY_MOVES = 100  # plies
_BEST = 1 << 18  # the rank of a sure win; beyond any distance
_CURSED = 2  # centipawns for what only the fifty-move rule makes a draw: the better side may hope


@dataclass(frozen=True, slots=True)
class Probing:
    """When search asks endgame tablebases; by default never.

    Attributes
    ----------
    address : int
        Of the TABLEBASES record.
    men : int
        Most men, kings included, of a position to ask about.
    depth : int
        Plies that are at least left to search where a position has just so many.
    fifty_moves : bool
        Whether the fifty-move rule counts.
    """

    address: int = 0
    men: int = 0
    depth: int = 1
    fifty_moves: bool = True


@dataclass(frozen=True, slots=True)
class Ranking:
    """Moves as tablebases rank them.

    Attributes
    ----------
    moves : tuple of int
        The best first, in the core's encoding.
    ranks : tuple of int
        The rank of each, the higher the better; moves that are all sure to win have the same, as have losing ones.
    scores : tuple of int
        The score of each in the core's terms, for the side to move.
    by_distance : bool
        Whether the DTZ tables were there: then the ranks are enough to win every won position. The WDL tables alone
        may go round in circles.
    """

    moves: tuple[int, ...]
    ranks: tuple[int, ...]
    scores: tuple[int, ...]
    by_distance: bool

    def first(self, count: int) -> "Ranking":
        """Leave out what ranks behind the first `count` moves."""
        last = self.ranks[min(count, len(self.ranks)) - 1]
        kept = sum(rank >= last for rank in self.ranks)
        return Ranking(self.moves[:kept], self.ranks[:kept], self.scores[:kept], self.by_distance)


def consult(
    tablebases: Tablebases,
    game: Game,
    moves: Sequence[int],
    lines: int,
    probing: Probing,
) -> tuple[Probing, Ranking | None]:
    """Rank the root moves by what the tables know, and say when search is to ask again.

    Parameters
    ----------
    tablebases : Tablebases
        The tables.
    game : Game
        The position.
    moves : sequence of int
        The moves to choose from, at least one.
    lines : int
        How many best lines are wanted; moves of a rank that none of them has are left out.
    probing : Probing
        When to ask, if the tables do not settle it already.

    Returns
    -------
    tuple
        When to ask, and the ranking; that is None if the tables do not know the position.
    """
    ranking = rank_moves(tablebases, game, moves, probing.fifty_moves) if game.men <= probing.men else None
    if ranking:
        ranking = ranking.first(lines)
        # All that is left to do is to make progress, and for that search must not take all wins for equal.
        if ranking.by_distance or ranking.scores[0] <= 0:
            return Probing(), ranking
    return probing, ranking


def rank_moves(tablebases: Tablebases, game: Game, moves: Sequence[int], fifty_moves: bool = True) -> Ranking | None:
    """Rank moves by what tablebases know of the positions after them.

    Parameters
    ----------
    tablebases : Tablebases
        DTZ tables serve best, else WDL tables do.
    game : Game
        The position, with its fifty-move count and what may be repeated.
    moves : sequence of int
        Legal moves, at least one.
    fifty_moves : bool
        Whether the fifty-move rule counts.

    Returns
    -------
    Ranking or None
        None if a table is missing, or there are castling rights.
    """
    if tablebases.wdl(game) is None:
        return None
    distances = [tablebases.dtz_after(game, move) for move in moves]
    by_distance = None not in distances
    if by_distance:
        count, repeated = game.fifty_move_count, game.has_repetition
        ranks = [_rank_of_distance(dtz or 0, count, repeated) for dtz in distances]
    else:
        values = [tablebases.wdl_after(game, move) for move in moves]
        if None in values:
            return None
        ranks = [_rank_of_value(wdl or 0) for wdl in values]
    order = sorted(range(len(moves)), key=lambda i: -ranks[i])
    return Ranking(
        tuple(moves[i] for i in order),
        tuple(ranks[i] for i in order),
        tuple(_score(ranks[i], fifty_moves) for i in order),
        by_distance,
    )


def _rank_of_distance(dtz: int, count: int, repeated: bool) -> int:
    """Rank a move by its distance to zeroing, `count` plies after the last zeroing. The scheme is Stockfish's."""
    plies = abs(dtz) + count
    if dtz > 0:
        # Search may choose among the moves that win in any case, until it has gone round in a circle: then the
        # shortest way counts. The distance may be a ply longer than the table says.
        return _BEST if plies < _FIFTY_MOVES and not repeated else _BEST - plies
    if dtz < 0:
        # Only where the fifty-move rule may come to help does the longest way count.
        return -_BEST if 2 * -dtz + count < _FIFTY_MOVES else -_BEST + plies
    return 0


def _rank_of_value(wdl: int) -> int:
    """Rank a move by its WDL value; what is cursed or blessed ranks like a distance beyond the fifty-move rule."""
    return {2: _BEST, 1: _BEST - _FIFTY_MOVES - 1, 0: 0, -1: -_BEST + _FIFTY_MOVES + 1, -2: -_BEST}[wdl]


def _score(rank: int, fifty_moves: bool) -> int:
    sign = int(np.sign(rank))
    decided = abs(rank) >= _BEST - _FIFTY_MOVES or not fifty_moves
    return sign * (TABLEBASE_WIN if decided else _CURSED)


def play_out(tablebases: Tablebases, game: Game, moves: Sequence[int]) -> tuple[int, ...]:
    """Follow a decided line into the tables, and from there on to mate, the winner by the shortest way to zeroing.

    Parameters
    ----------
    tablebases : Tablebases
    game : Game
        The position before the line.
    moves : sequence of int
        The line; its first move is kept, and those after it until the tables know better.

    Returns
    -------
    tuple of int
        The line to mate, or as far as the tables lead.
    """
    board = game.copy()
    line: list[int] = []
    for move in moves:
        if line and tablebases.wdl(board) is not None:
            break
        board.push(move)
        line.append(move)
    while len(line) < MAX_PLY:
        distances = {move: tablebases.dtz_after(board, move) for move in board.legal_moves()}
        known = {move: dtz for move, dtz in distances.items() if dtz is not None}
        if not known or len(known) < len(distances):
            break
        # The nearest win, or else the farthest loss.
        best = max(known, key=lambda move: (np.sign(known[move]), -known[move]))
        if known[best] == 0:
            break
        board.push(best)
        line.append(best)
    return tuple(line)
