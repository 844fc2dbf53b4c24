"""Finds puzzles in a game.

The idea comes from Lichess's puzzler (https://github.com/ornicar/lichess-puzzler): a puzzle begins where a mistake gave
the side to move a clear advantage, and continues as long as only one move keeps it. Scores are compared as winning
chances, from -1 to 1, by Lichess's formula. A very quick search of each position finds the candidates; longer searches
confirm the mistake. Three searches, each several times as long as the one before, must then find each move of the
solution, and agree that no other move is good enough. The last two also search the other moves alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

import chess
import chess.engine
from chess.engine import Score

from knightadder.motifs.line import boards_along
from knightadder.motifs.tactics import VALUES
from knightadder.puzzles.puzzle import Solution
from knightadder.review.accuracy import Scale, rescale, winning_chances
from knightadder.review.game_evaluation import Analyst, SearchedPosition, evaluate
from knightadder.rules import mates

SCAN_NODES = 700  # nodes of the search of each position of a game that finds the candidates

# Nodes of the other searches, as a share of the deciding search's nodes.
_CONFIRM_SHARE, _PROBE_SHARE, _REPLY_SHARE = 50, 10, 5

_SECOND_LOOK = 4  # a second deciding search, from an empty hash table, has this many times the nodes

# A solution wins if its winning chances are at least `_WON`, and saves the game if they are at least `_HELD`. Every
# other move must be worse by `_GAP`, as in Lichess's puzzler.
_WON = 0.5  # 300 centipawns on the scale of Stockfish
_HELD = -0.2  # -110 centipawns
_GAP = 0.7
_SLACK = 0.15  # tolerance of the quick searches, which are less reliable
_SCAN_SLACK = 0.3

_WORSE_IF_PASSED = 0.3  # in zugzwang, passing would raise the winning chances by at least this, as in Lichess's puzzler
_FEW_MOVES = 15  # maximum number of legal moves in a position tested for zugzwang; with more, it is too rare

_MOST_MOVES = 6  # maximum number of the solver's moves
_MOST_QUIET = 60  # maximum halfmove clock of a puzzle; above it, the fifty-move rule may matter
_APART = 6  # minimum number of plies between puzzles of a game; closer puzzles are often about the same threat


Scan: TypeAlias = Callable[[chess.Board], Sequence[SearchedPosition | None]]


class Reason(StrEnum):
    """The reason why a game has no puzzle. If there are several reasons, the last one in this order is reported."""

    NO_MISTAKE = "no large mistake"
    UNCLEAR = "deeper searches saw no clear advantage"
    SEVERAL = "several good moves"
    TRIVIAL = "only trivial solutions"


_BY_RANK = tuple(Reason)


@dataclass(frozen=True, slots=True)
class Found:
    """A puzzle in a game."""

    solution: Solution
    ply: int  # number of plies before the puzzle
    score: Score  # the solver's score on Stockfish's scale
    saves: bool  # whether the solution only saves the game
    zugzwang: bool = False  # whether the opponent would prefer to pass


@dataclass(frozen=True, slots=True)
class Findings:
    """The puzzles of a game, in the order of its moves, or the reason why there are none."""

    puzzles: list[Found]
    reason: Reason | None = None


def find_puzzles(
    game: chess.Board, analyst: Analyst, nodes: int, scale: Scale = rescale, scan: Scan | None = None
) -> Findings:
    """Find the puzzles of a game; EngineError if a search fails. `game` is its last position with all moves.

    The analyst is cleared first, so that the result depends only on the arguments. `nodes` is the node limit of the
    deciding search. `scale` converts the engine's scores to Stockfish's scale. `scan` evaluates all positions of the
    game; by default, the analyst does.
    """
    analyst.new_game()
    limit = chess.engine.Limit(nodes=min(SCAN_NODES, nodes))
    evaluations = scan(game) if scan else evaluate(game, analyst, limit, scale=None)
    boards = boards_along(game.root(), game.move_stack)
    seeker = _Seeker(analyst, nodes, scale)
    found: list[Found] = []
    reasons = {Reason.NO_MISTAKE}
    known: set[str] = set()  # positions of solutions
    free = 0  # the first ply at which the next puzzle may begin
    for ply in _candidates(evaluations, boards, scale):
        board = boards[ply].copy(stack=False)
        if ply < free or board.epd() in known:
            continue
        saves = seeker.task(boards, ply)
        line = saves if isinstance(saves, Reason) else seeker.solve(board, saves)
        if isinstance(line, Reason):
            reasons.add(line)
            continue
        assert isinstance(saves, bool)
        moves = tuple(step.move for step in line)
        if _is_trivial(boards[ply], moves):
            reasons.add(Reason.TRIVIAL)
            continue
        before = boards[ply].copy(stack=1)
        previous = before.pop()
        solution = Solution(board.fen(), moves, before.fen(), previous, board.chess960)
        positions = solution.boards()
        known.update(position.epd() for position in positions)
        free = ply + max(len(moves), _APART)
        zugzwang = any(seeker.is_zugzwang(position) for position in positions[1::2])
        found.append(Found(solution, boards[ply].ply(), line[0].score, saves, zugzwang))
    return Findings(found, None if found else max(reasons, key=_BY_RANK.index))


# --- candidates ----------------------------------------------------------------------------------------------------


def _candidates(
    evaluations: Sequence[SearchedPosition | None], boards: Sequence[chess.Board], scale: Scale
) -> Iterator[int]:
    """Yield the plies of possible puzzles: positions in which the move before or the move after was a mistake."""
    for ply in range(1, len(boards)):
        if evaluations[ply] is None or evaluations[ply - 1] is None or boards[ply].legal_moves.count() < 2:
            continue
        if boards[ply].halfmove_clock > _MOST_QUIET:
            continue
        side = boards[ply].turn
        now, before = _chances(evaluations[ply], side, scale), _chances(evaluations[ply - 1], side, scale)
        after = _chances(evaluations[ply + 1], side, scale) if ply + 1 < len(boards) else None
        if _is_task(before, now, after, _SCAN_SLACK):
            yield ply


def _is_task(before: float | None, now: float | None, after: float | None, slack: float) -> bool:
    """Return whether there is a win or draw to find: the opponent has just allowed it, or it was then missed.
    The arguments are the side to move's winning chances: before the opponent's move, after it, and a move later.
    """
    if before is None or now is None or now < _HELD - slack:
        return False
    let_slip = now - before >= _GAP - slack and before < _WON + slack
    missed = now < _WON + slack and after is not None and now - after >= _GAP - slack
    return let_slip or missed


def _chances(evaluation: SearchedPosition | None, side: chess.Color, scale: Scale) -> float | None:
    return None if evaluation is None else winning_chances(scale(evaluation.score.pov(side)))


# --- solutions -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Step:
    """A move of the solution, its score as in `Found`, and whether it was the only legal move."""

    move: chess.Move
    score: Score
    forced: bool = False


class _Seeker:
    def __init__(self, analyst: Analyst, nodes: int, scale: Scale) -> None:
        self._analyst, self._scale = analyst, scale
        self._confirm = chess.engine.Limit(nodes=max(nodes // _CONFIRM_SHARE, 1))
        self._deep = chess.engine.Limit(nodes=nodes)
        self._probe = chess.engine.Limit(nodes=max(nodes // _PROBE_SHARE, 1))
        self._second_look = chess.engine.Limit(nodes=nodes * _SECOND_LOOK)
        self._reply = chess.engine.Limit(nodes=max(nodes // _REPLY_SHARE, 1))

    def task(self, boards: Sequence[chess.Board], ply: int) -> bool | Reason:
        """Return whether the task at a ply is to save the game (True) or to win it (False), or why there is no task."""
        # The positions are searched from last to first, so that the hash table helps.
        after = -self._worth(boards[ply + 1]) if ply + 1 < len(boards) else None
        now, before = self._worth(boards[ply]), -self._worth(boards[ply - 1])
        if now >= _WON - _SLACK and before < _WON and now - before >= _GAP - _SLACK:
            return False
        return True if now < _WON and _is_task(before, now, after, _SLACK) else Reason.UNCLEAR

    def _worth(self, board: chess.Board) -> float:
        """Return the winning chances of the side to move."""
        if board.is_checkmate():
            return -1.0
        if not any(board.legal_moves):
            return 0.0
        return winning_chances(self._scale(self._analyst.analyse(board, self._confirm).score.relative))

    def is_zugzwang(self, board: chess.Board) -> bool:
        """Return whether the side to move has few moves, and would be much better off if it could pass."""
        if board.is_check() or not 0 < board.legal_moves.count() <= _FEW_MOVES:
            return False
        passed = board.copy(stack=False)
        passed.push(chess.Move.null())
        passed.clear_stack()
        if not any(passed.legal_moves):
            return False
        moving, passing = (
            winning_chances(self._scale(self._analyst.analyse(each, self._probe).score.pov(board.turn)))
            for each in (board.copy(stack=False), passed)
        )
        return moving < passing - _WORSE_IF_PASSED

    def solve(self, board: chess.Board, saves: bool) -> list[_Step] | Reason:
        """Return the moves of the solution, including the replies, or why the position is not a puzzle."""
        board = board.copy()
        line: list[_Step] = []
        while not board.is_game_over() and not board.is_repetition(2):
            step = self._only_move(board, saves)
            if isinstance(step, Reason):
                if not line:
                    return step
                break
            line.append(step)
            board.push(step.move)
            if board.is_game_over() or len(line) == 2 * _MOST_MOVES - 1:
                break
            reply = self._analyst.analyse(board, self._reply).best
            assert reply.move is not None  # the game is not over
            line.append(_Step(reply.move, self._scale(reply.score.relative)))
            board.push(reply.move)
        while line and (len(line) % 2 == 0 or line[-1].forced):
            line.pop()
        return line or Reason.TRIVIAL

    def _only_move(self, board: chess.Board, saves: bool) -> _Step | Reason:
        """Return the only move that wins or saves, or why there is none."""
        mating = [move for move in list(board.legal_moves) if mates(board, move)]
        if mating:
            return _Step(mating[0], chess.engine.Mate(1)) if len(mating) == 1 else Reason.SEVERAL
        quick = self._best(board, self._probe, saves, _SLACK)
        if isinstance(quick, Reason):
            return quick
        decided = self._decided(board, self._deep, saves, quick.move)
        if isinstance(decided, Reason):
            return decided
        self._analyst.new_game()  # so that an error of the deciding search is not repeated
        return self._decided(board, self._second_look, saves, quick.move)

    def _decided(self, board: chess.Board, limit: chess.engine.Limit, saves: bool, move: chess.Move) -> _Step | Reason:
        """Search a position, and then all moves except the best; return the best move if no other is good enough."""
        best = self._best(board, limit, saves)
        if isinstance(best, Reason):
            return best
        if best.move != move:
            return Reason.UNCLEAR
        others = [other for other in board.legal_moves if other != move]
        if others:  # the search of two lines spent most of its nodes on the better line
            second = self._analyst.analyse(board, limit, root_moves=others).best
            if winning_chances(best.score) - winning_chances(self._scale(second.score.relative)) < _GAP:
                return Reason.SEVERAL
        return best

    def _best(self, board: chess.Board, limit: chess.engine.Limit, saves: bool, slack: float = 0.0) -> _Step | Reason:
        """Search a position; return the best move if no other move is good enough."""
        lines = self._analyst.analyse(board, limit, multipv=2).lines
        if lines[0].move is None:
            return Reason.UNCLEAR
        scores = [self._scale(line.score.relative) for line in lines]
        best, *others = map(winning_chances, scores)
        if not (_HELD - slack <= best < _WON if saves else best >= _WON - slack):
            return Reason.UNCLEAR
        if any(best - other < _GAP - slack for other in others):
            return Reason.SEVERAL
        return _Step(lines[0].move, scores[0], not others)


def _is_trivial(board: chess.Board, moves: Sequence[chess.Move]) -> bool:
    """Return whether a solution only recaptures, or is one move that takes a hanging piece or promotes."""
    first = moves[0]
    end = board.copy(stack=False)
    for move in moves:
        end.push(move)
    if end.is_checkmate():
        return False
    previous = board.peek()
    before = board.copy(stack=1)
    before.pop()
    if before.is_capture(previous) and board.is_capture(first) and first.to_square == previous.to_square:
        return True
    if len(moves) > 1:
        return False
    if first.promotion is not None:
        return True
    victim, taker = board.piece_type_at(first.to_square), board.piece_type_at(first.from_square)
    if victim is None or taker is None or not board.is_capture(first):
        return False
    return VALUES[victim] > VALUES[taker] or not end.attackers(end.turn, first.to_square)
