"""Endgame tablebases: when search probes them, root moves ranked by them, and lines extended to mate."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from knightadder.core.layout import MAX_PLY
from knightadder.core.search import transposition
from knightadder.engine.game import Game
from knightadder.engine.tablebases.registry import Tablebases

TABLEBASE_WIN = int(transposition.TABLEBASE_WIN)

_FIFTY_MOVES = 100  # plies
_BEST = 1 << 18  # the rank of a certain win; greater than any distance
_CURSED = 2  # centipawns for a cursed win, a draw only by the fifty-move rule: the opponent may go wrong


@dataclass(frozen=True, slots=True)
class Probing:
    """When search probes endgame tablebases; by default never.

    Attributes
    ----------
    address : int
        The address of the TABLEBASES record.
    men : int
        Most men, kings included, of a position to probe.
    depth : int
        Least remaining depth in plies for a position with exactly that many men.
    fifty_moves : bool
        Whether the fifty-move rule counts.
    """

    address: int = 0
    men: int = 0
    depth: int = 1
    fifty_moves: bool = True


@dataclass(frozen=True, slots=True)
class Ranking:
    """Moves ranked by tablebases.

    Attributes
    ----------
    moves : tuple of int
        The best first, in the core's encoding.
    ranks : tuple of int
        The rank of each, the higher the better; all certain wins have the same rank, and so have all certain losses.
    scores : tuple of int
        The score of each in the core's encoding, for the side to move.
    by_distance : bool
        Whether the DTZ tables were available: then the ranks alone are enough to win every won position. With WDL
        tables alone, play may go round in circles.
    """

    moves: tuple[int, ...]
    ranks: tuple[int, ...]
    scores: tuple[int, ...]
    by_distance: bool

    def first(self, count: int) -> "Ranking":
        """Return the ranking without the moves that rank below the first `count` moves."""
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
    """Rank the root moves by the tables, and say when search probes again.

    Parameters
    ----------
    tablebases : Tablebases
        The tables.
    game : Game
        The position.
    moves : sequence of int
        The moves to choose from, at least one.
    lines : int
        Number of best lines wanted; moves that rank below all of them are left out.
    probing : Probing
        When to probe, unless the tables already decide the position.

    Returns
    -------
    tuple
        When to probe, and the ranking, which is None if the tables do not know the position.
    """
    ranking = rank_moves(tablebases, game, moves, probing.fifty_moves) if game.men <= probing.men else None
    if ranking:
        ranking = ranking.first(lines)
        # Only progress is missing, and search must not consider all wins equal: so it searches without probing.
        if ranking.by_distance or ranking.scores[0] <= 0:
            return Probing(), ranking
    return probing, ranking


def rank_moves(tablebases: Tablebases, game: Game, moves: Sequence[int], fifty_moves: bool = True) -> Ranking | None:
    """Rank moves by the tablebase values of the positions after them.

    Parameters
    ----------
    tablebases : Tablebases
        DTZ tables are preferred; WDL tables are used without them.
    game : Game
        The position, with its fifty-move count and the history for repetitions.
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
        # Search may choose among the certain wins until a position has been repeated: then the shortest way counts.
        # The distance may be a ply longer than the table says.
        return _BEST if plies < _FIFTY_MOVES and not repeated else _BEST - plies
    if dtz < 0:
        # The longest defence counts only where the fifty-move rule may save the game.
        return -_BEST if 2 * -dtz + count < _FIFTY_MOVES else -_BEST + plies
    return 0


def _rank_of_value(wdl: int) -> int:
    """Rank a move by its WDL value; cursed wins and blessed losses rank as distances beyond the fifty-move rule."""
    return {2: _BEST, 1: _BEST - _FIFTY_MOVES - 1, 0: 0, -1: -_BEST + _FIFTY_MOVES + 1, -2: -_BEST}[wdl]


def _score(rank: int, fifty_moves: bool) -> int:
    sign = int(np.sign(rank))
    decided = abs(rank) >= _BEST - _FIFTY_MOVES or not fifty_moves
    return sign * (TABLEBASE_WIN if decided else _CURSED)


def play_out(tablebases: Tablebases, game: Game, moves: Sequence[int]) -> tuple[int, ...]:
    """Extend a decided line to mate: from the first position in the tables, the winner takes the shortest DTZ.

    Parameters
    ----------
    tablebases : Tablebases
    game : Game
        The position before the line.
    moves : sequence of int
        The line; its first move is kept, and the following ones up to the first position in the tables.

    Returns
    -------
    tuple of int
        The line to mate, or as far as the tables reach.
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
        # The nearest win, otherwise the farthest loss.
        best = max(known, key=lambda move: (np.sign(known[move]), -known[move]))
        if known[best] == 0:
            break
        board.push(best)
        line.append(best)
    return tuple(line)
