"""An analyst that says what a test has written down for each position."""

import chess
from chess.engine import Cp, Mate, PovScore, PovWdl, Wdl

from knightadder.engine.info import Bound
from knightadder.library.results import Analysis, Line


class ScriptedAnalyst:
    """Knows lines by position: ``{epd: [(score, san), ...]}``, with scores in centipawns or as ``"#3"``.

    `tell` may add lines that depend on the nodes of a search: it takes a board and their number, and gives lines or
    None. What is not written down is a draw after any move. A search of some moves alone has the lines in `alone`, or
    those written down, or loses.
    """

    def __init__(self, script=None, tell=lambda board, nodes: None, alone=None):
        self.script, self.tell, self.alone = script or {}, tell, alone or {}
        self.games = 0

    def new_game(self):
        self.games += 1

    def configure(self, options):
        return []

    def stop(self):
        pass

    def analyse(self, board, limit, *, multipv=1, root_moves=None):
        pairs = self.tell(board, limit.nodes) or self.script.get(board.epd())
        if pairs is None:
            pairs = [(0, board.san(move)) for move in sorted(board.legal_moves, key=chess.Move.uci)]
        if root_moves is not None:
            known = [(score, san) for score, san in pairs if board.parse_san(san) in root_moves]
            pairs = self.alone.get(board.epd()) or known or [(-1000, board.san(root_moves[0]))]
        lines = tuple(_line(board, rank, *pair) for rank, pair in enumerate(pairs[:multipv], 1))
        return Analysis(lines, lines[0].move, None)


def _line(board, rank, score, san):
    relative = Mate(int(score[1:])) if isinstance(score, str) else Cp(score)
    return Line(
        rank,
        9,
        9,
        PovScore(relative, board.turn),
        Bound.EXACT,
        PovWdl(Wdl(0, 1000, 0), board.turn),
        1,
        1,
        0,
        0,
        0.0,
        (board.parse_san(san),),
        board.fen(),
    )
