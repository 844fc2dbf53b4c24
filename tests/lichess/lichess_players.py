"""What games of the bot need besides a server: engines whose moves are known beforehand, and clocks that tests move."""

import itertools
import threading
from zlib import crc32

import chess
from chess.engine import Cp, PovScore, PovWdl, Wdl

from knightadder.engine.info import Bound
from knightadder.library.results import Line, PlayResult
from knightadder.lichess.timers import Timer

PATIENCE = 120  # seconds: longer than anything takes on a busy machine, so that only a fault is waited for so long
TIMEOUTS = 60.0, PATIENCE, PATIENCE  # of a `Lichess` whose server answers always, however slowly


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
                fen=board.fen(),
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
        assert self.stopped.wait(PATIENCE)
        return choice(board)

    def stop(self):
        super().stop()
        if self.thinking.is_set():
            self.stopped.set()


class StillClock(Timer):
    """A clock that stands still until a test moves it on.

    Waits for an event end at once; `waits` tells how long they should have been. Who waits for something from a queue
    waits until it is there, or the clock has been moved on far enough; `patience` tells for how long, if not for ever.
    """

    def __init__(self):
        self.waits, self.patience = [], []
        self._now = 0.0

    def now(self):
        return self._now

    def move_on(self, seconds):
        self._now += seconds

    def wait(self, event, seconds):
        self.waits.append(seconds)
        return event.wait(0.001)

    def get(self, queue, seconds):
        self.patience.append(seconds)
        if seconds is None:
            return super().get(queue, None)
        end = self._now + seconds
        while (item := super().get(queue, 0.005)) is None and self._now < end:
            pass
        return item


class TickingClock(StillClock):
    """A clock that goes on a quarter of a second whenever somebody looks at it."""

    def __init__(self):
        super().__init__()
        self._ticks = itertools.count(1)

    def now(self):
        return next(self._ticks) / 4
