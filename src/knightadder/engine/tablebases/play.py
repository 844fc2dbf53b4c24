"""Using endgame tablebases: when the search probes them, ranking root moves, and extending lines to mate."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from knightadder.core.layout import MAX_PLY, PAWN
from knightadder.engine.core_scores import TABLEBASE_WIN
from knightadder.engine.game import Game
from knightadder.engine.tablebases.registry import Tablebases

_FIFTY_MOVES = 100  # plies of the fifty-move rule
_BEST = 1 << 18  # rank of a certain win, higher than any distance
_CURSED = 2  # centipawns for a win that the fifty-move rule makes a draw; not 0, because the opponent may err


@dataclass(frozen=True, slots=True)
class Probing:
    """The settings for probing tablebases during a search. By default, nothing is probed.

    `address` is the address of the TABLEBASES record. `men` is the maximum number of men in a position to probe, and
    `depth` the minimum remaining depth, in plies, for positions with that many men. `fifty_moves` says whether the
    fifty-move rule counts.
    """

    address: int = 0
    men: int = 0
    depth: int = 1
    fifty_moves: bool = True


@dataclass(frozen=True, slots=True)
class Ranking:
    """Moves ranked by tablebases, best first, in the core's encoding. A higher rank is better.

    All certain wins have the same rank until a position has been repeated, except against a bare king without pawns:
    then nearer mates rank higher. Losses have the same rank if the fifty-move rule is far away. The scores are in the
    core's encoding, for the side to move. `by_distance` says whether DTZ tables were available. With them, the ranks
    alone are enough to win every won position; with only WDL tables, play may go round in circles.
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
    tablebases: Tablebases, game: Game, moves: Sequence[int], lines: int, probing: Probing
) -> tuple[Probing, Ranking | None]:
    """Rank the root moves by the tables; return the settings for probing in the search, and the ranking.

    Moves that rank below the `lines` best moves are left out. The settings are `probing` unless the tables decide the
    position. The ranking is None if the tables do not know the position.
    """
    ranking = rank_moves(tablebases, game, moves, probing.fifty_moves) if game.men <= probing.men else None
    if ranking:
        ranking = ranking.first(lines)
        # The search only has to make progress. It does not probe, because all wins would have the same score.
        if ranking.by_distance or ranking.scores[0] <= 0:
            return Probing(), ranking
    return probing, ranking


def rank_moves(tablebases: Tablebases, game: Game, moves: Sequence[int], fifty_moves: bool = True) -> Ranking | None:
    """Return legal moves ranked by the tablebase values of the positions after them.

    DTZ tables are preferred to WDL tables. The ranks depend on the game's fifty-move count and repetitions. The ranking
    is None if a table is missing or there are castling rights.
    """
    if tablebases.wdl(game) is None:
        return None
    distances = [tablebases.dtz_after(game, move) for move in moves]
    by_distance = None not in distances
    if by_distance:
        # A search may take nearly fifty moves to mate with bishop and knight.
        count, by_length = game.fifty_move_count, game.has_repetition or _ends_by_mate(game)
        ranks = [_rank_of_distance(dtz or 0, count, by_length) for dtz in distances]
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


def _ends_by_mate(game: Game) -> bool:
    """Return whether the distance to zeroing is that to mate: the opponent has a bare king, and there are no pawns."""
    return game.opponent_is_bare and not game.has_any(PAWN)


def _rank_of_distance(dtz: int, count: int, by_length: bool) -> int:
    """Return the rank of a move by its DTZ, `count` plies after the last zeroing move. With `by_length`, a shorter win
    always ranks higher. Otherwise the scheme is Stockfish's.
    """
    plies = abs(dtz) + count
    if dtz > 0:
        # Unless the shortest win counts, the search may choose among the certain wins. The true distance may be a ply
        # longer than the DTZ.
        return _BEST if plies < _FIFTY_MOVES and not by_length else _BEST - plies
    if dtz < 0:
        # A longer defence ranks higher only if the fifty-move rule may save the game.
        return -_BEST if 2 * -dtz + count < _FIFTY_MOVES else -_BEST + plies
    return 0


def _rank_of_value(wdl: int) -> int:
    """Return the rank of a WDL value. Cursed wins and blessed losses rank like distances beyond the fifty-move rule."""
    return {2: _BEST, 1: _BEST - _FIFTY_MOVES - 1, 0: 0, -1: -_BEST + _FIFTY_MOVES + 1, -2: -_BEST}[wdl]


def _score(rank: int, fifty_moves: bool) -> int:
    sign = int(np.sign(rank))
    decided = abs(rank) >= _BEST - _FIFTY_MOVES or not fifty_moves
    return sign * (TABLEBASE_WIN if decided else _CURSED)


def play_out(tablebases: Tablebases, game: Game, moves: Sequence[int]) -> tuple[int, ...]:
    """Extend a decided line to mate, or as far as the tables reach. `game` is the position before the line.

    The moves of the line are kept up to the first position in the tables, and its first move is always kept. From there
    on, the winner takes the shortest DTZ.
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
        # Choose the nearest win; if there is none, the farthest loss.
        best = max(known, key=lambda move: (np.sign(known[move]), -known[move]), default=None)
        if best is None or known[best] == 0 or (known[best] < 0 and len(known) < len(distances)):
            break
        board.push(best)
        line.append(best)
    return tuple(line)
