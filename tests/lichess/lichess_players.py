"""What games of the bot need besides a server: an engine whose moves are known beforehand, and a clock that hurries."""

import threading
from time import monotonic
from zlib import crc32

import chess
from chess.engine import Cp, PovScore, PovWdl, Wdl

from knightadder.engine.info import Bound
from knightadder.library.results import Line, PlayResult
from knightadder.lichess.waiting import Clock


def choice(board):
    """Give the move that `Chooser` plays: any, but always the same."""
    moves = sorted(board.legal_moves, key=chess.Move.uci)
    return moves[crc32(board.fen().encode()) % len(moves)]


class Chooser:
    """An engine that thinks about nothing; `asked` has each position and limit, `scores` what it says of them."""

    def __init__(self, score=30):
        self.asked, self.pondered, self.settings = [], [], []
        self.score = score
        self.games = self.stops = 0
        self.closed = False
        self._playing = threading.Lock()

    def configure(self, options):
        self.settings.append(dict(options))
        return []

    def new_game(self):
        self.games += 1

    def play(self, board, limit, *, ponder=False):
        assert self._playing.acquire(blocking=False), "two games share an engine"
        try:
            self.asked.append((board.copy(), limit))
            self.pondered.append(ponder)
            move = self.choose(board)
            line = Line(
                rank=1,
                depth=1,
                seldepth=1,
                score=PovScore(Cp(self.score), board.turn),
                bound=Bound.EXACT,
                wdl=PovWdl(Wdl(0, 1000, 0), board.turn),
                nodes=1,
                nps=1,
                hashfull=0,
                tbhits=0,
                time=0.0,
                pv=(move,),
            )
            return PlayResult(move, None, line)
        finally:
            self._playing.release()

    def choose(self, board):
        return choice(board)

    def stop(self):
        self.stops += 1

    def close(self):
        self.closed = True


class Thinker(Chooser):
    """An engine that thinks until it is stopped."""

    def __init__(self, score=30):
        super().__init__(score)
        self.thinking, self.stopped = threading.Event(), threading.Event()

    def choose(self, board):
        self.thinking.set()
        assert self.stopped.wait(60)
        return choice(board)

    def stop(self):
        super().stop()
        if self.thinking.is_set():
            self.stopped.set()


class HurriedClock(Clock):
    """A clock that waits for nothing but notes for how long it should have, and whose deadlines come sooner."""

    def __init__(self, rate=1.0):
        self.rate = rate
        self.waits = []

    def now(self):
        return monotonic() * self.rate

    def wait(self, event, seconds):
        self.waits.append(seconds)
        return event.wait(0.001)

    def get(self, queue, seconds):
        return super().get(queue, None if seconds is None else seconds / self.rate)
