"""A stand-in for the library's engine: it plays prepared moves, and analyses without a search."""

import threading

import chess
import chess.engine
from game_texts import read_game

from knightadder.engine.info import Bound, Info, Result, Score
from knightadder.library.stream import Feed, Stream
from knightadder.review import notes
from knightadder.review.game_evaluation import evaluate
from knightadder.review.review import review
from knightadder.review.summary import row


class StandInEngine:
    """Plays the moves of a script, then the first legal ones by name; an analysis ranks legal moves by name.

    With a `worth` of moves in centipawns, a function of board and move, they are ranked by that instead. If `endless`,
    a search for a move goes on until it is stopped, as an analysis always does. If `held`, a search for a move goes on
    until `release` is called.
    """

    line_length = 2  # plies

    def __init__(self, script=(), cp=20, endless=False, worth=None):
        self.script = list(script)
        self.cp = cp
        self.endless = endless
        self.worth = worth
        self.nodes = 123_456
        self.held = False
        self.release = None
        self.options = {}
        self.problem = None
        self.searches = []  # the FEN of each
        self.running = 0
        self.games = 0
        self.began = threading.Event()  # a search
        self.closed = threading.Event()

    def configure(self, options):
        assert not self.running, "configured in a search"
        self.options.update(options)
        return []

    def new_game(self):
        self.games += 1

    def close(self):
        self.closed.set()

    def stream(self, board, limit=None, *, multipv=1, root_moves=None):
        assert not self.running, "two searches at once"
        assert board.is_valid()
        self.running += 1
        if root_moves is None:
            self.searches.append(board.fen())
        self.began.set()
        moves = sorted(root_moves or board.legal_moves, key=chess.Move.uci)
        if self.worth is not None:
            moves.sort(key=lambda move: -self.worth(board, move))
        if limit is not None and self.script and not self.endless:
            moves = [board.parse_san(self.script.pop(0))]
        infos = [
            _info(board, move, rank, self._cp(board, move, rank), self.nodes, self.line_length)
            for rank, move in enumerate(moves[:multipv], 1)
        ]
        result = Result(moves[0].uci(), None, infos[0])
        feed = Feed(board.fen())
        self.release = lambda: self._end(feed, result)
        feed.follow(self.release)
        for info in infos:
            feed.report(info)
        if limit is not None and not self.endless and not self.held:
            self.release()
        return Stream(feed)

    def analyse(self, board, limit, **more):
        return self.stream(board, limit, **more).result()

    def _cp(self, board, move, rank):
        return self.cp - 10 * rank if self.worth is None else self.worth(board, move)

    def _end(self, feed, result):
        if feed.analysis is None:
            self.running -= 1
            feed.finish(result)


_VALUES = {chess.PAWN: 100, chess.KNIGHT: 300, chess.BISHOP: 310, chess.ROOK: 500, chess.QUEEN: 900, chess.KING: 0}


def material(board, move):
    """Give the worth of a move by the material that it leaves; mate is worth more than all of it."""
    after = board.copy(stack=False)
    after.push(move)
    if after.is_checkmate():
        return 10_000
    signs = {color: 1 if color == board.turn else -1 for color in chess.COLORS}
    return sum(signs[piece.color] * _VALUES[piece.piece_type] for piece in after.piece_map().values())


def _info(board, move, rank, cp, nodes, length):
    after = board.copy(stack=False)
    after.push(move)
    line = [move]
    end = after.copy(stack=False)
    while len(line) < length and any(end.legal_moves):
        line.append(min(end.legal_moves, key=chess.Move.uci))
        end.push(line[-1])
    return Info(
        depth=12,
        seldepth=20,
        multipv=rank,
        score=Score(mate=1) if after.is_checkmate() else Score(cp=cp),
        bound=Bound.EXACT,
        wdl=(400, 300, 300),
        nodes=nodes,
        nps=1_000_000,
        hashfull=42,
        tbhits=0,
        time_ms=500,
        pv=tuple(each.uci() for each in line),
    )


def annotated(pgn):
    """Give a game as `annotate` writes it with an engine that counts material, and its summary."""
    game = read_game(pgn)
    board = game.end().board()
    found = review(board, evaluate(board, StandInEngine(worth=material), chess.engine.Limit(nodes=1)))
    notes.annotate(game, found, explain=False)
    return game, row(1, 1, game.headers, found)
