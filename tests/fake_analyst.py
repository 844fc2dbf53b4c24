"""An analyst without an engine: it sees one move ahead, and takes what it sees for all there is."""

import chess
from chess.engine import Cp, Mate, PovScore, PovWdl, Wdl

from knightadder.engine.info import Bound
from knightadder.library.results import Analysis, Line
from knightadder.review.game_evaluation import blocks, evaluate_block

_VALUES = {chess.PAWN: 100, chess.KNIGHT: 300, chess.BISHOP: 310, chess.ROOK: 500, chess.QUEEN: 900, chess.KING: 0}


def positions(board):
    """Give the positions of a game from its end, the first one first."""
    past = board.copy()
    found = [past.copy()]
    while past.move_stack:
        past.pop()
        found.append(past.copy())
    return found[::-1]


def _material(board, color):
    return sum(value * len(board.pieces(piece, color)) for piece, value in _VALUES.items())


def evaluate(board, analyst, limit, multipv=1, **scale):
    """Evaluate a game of one block."""
    [block] = blocks(1, board)
    return evaluate_block(block, analyst, limit, multipv, **scale)


class Here:
    """A pool that runs its task in this process, one item after the other."""

    def __init__(self, task):
        self._task = task

    def run(self, items):
        for item in items:
            yield item, self._task(item)

    def place(self):
        return "1 machine, 3 workers"


class FakeAnalyst:
    """Counts material after each move, and sees mates in one."""

    def __init__(self, depth=7):
        self.depth = depth
        self.games = 0
        self.seen = []
        self.limits = []

    def new_game(self):
        self.games += 1

    def analyse(self, board, limit, *, multipv=1, root_moves=None):
        if root_moves is None:
            self.seen.append(board.fen())
            self.limits.append(limit)
        found = []
        for move in root_moves or board.legal_moves:
            after = board.copy(stack=False)
            after.push(move)
            score = _material(after, board.turn) - _material(after, not board.turn)
            found.append((Mate(1) if after.is_checkmate() else Cp(score), move))
        found.sort(key=lambda pair: (pair[0], pair[1].uci()), reverse=True)
        lines = tuple(
            Line(
                rank,
                self.depth,
                self.depth,
                PovScore(score, board.turn),
                Bound.EXACT,
                PovWdl(Wdl(0, 1000, 0), board.turn),
                1,
                1,
                0,
                0,
                0.0,
                (move,),
                board.fen(),
            )
            for rank, (score, move) in enumerate(found[:multipv], 1)
        )
        return Analysis(lines, lines[0].move, None)
