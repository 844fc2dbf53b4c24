"""A way to search with an engine, to keep all that it says, and to check it."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import chess
from waiting import TIMEOUT, eventually

from knightadder.engine.engine import Engine
from knightadder.engine.info import Bound, CurrentMove, Info, Message, Result
from knightadder.engine.limits import Limits

KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
MATE_IN_ONE = "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1"  # Ra8
MATE_IN_TWO = "7k/8/8/8/8/8/R7/1R2K3 w - - 0 1"
MATED_IN_ONE = "7k/R7/8/8/8/8/8/1R2K3 b - - 0 1"  # Kg8 is the only move
CHECKMATE = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3"
STALEMATE = "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"
DEAD = "4k3/8/8/8/8/8/8/4K1N1 w - - 0 1"


@dataclass
class Listener:
    """Keeps what a search reports, in order."""

    reports: list[Info | CurrentMove | Message] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    done: threading.Event = field(default_factory=threading.Event)
    _heard: threading.Condition = field(default_factory=threading.Condition)

    def on_report(self, report: Info | CurrentMove | Message) -> None:
        with self._heard:
            self.reports.append(report)
            self._heard.notify_all()

    def wait_for(self, met: Callable[[], object]) -> None:
        """Wait until what was reported meets a condition."""
        with self._heard:
            assert self._heard.wait_for(met, TIMEOUT)

    def wait_for_lines(self, count: int) -> None:
        """Wait until so many lines have been reported in all."""
        self.wait_for(lambda: len(self.infos) >= count)

    def on_done(self, result: Result) -> None:
        self.results.append(result)
        self.done.set()

    @property
    def infos(self) -> list[Info]:
        return [report for report in self.reports if isinstance(report, Info)]

    @property
    def result(self) -> Result:
        """The result, of which there must be just one."""
        assert self.done.wait(TIMEOUT)
        [result] = self.results
        return result


class Clock:
    """The time as searches see it, which passes only when the test says so."""

    def __init__(self) -> None:
        self._now = 1000.0
        self._looks = 0

    def perf_counter(self) -> float:
        return self._now

    def looked(self) -> None:
        self._looks += 1

    def advance(self, engine: Engine, seconds: float) -> None:
        """Let time pass, and wait until the search has looked at the clock since, or has ended."""
        self._now += seconds
        looks = self._looks + 2  # one look may be under way
        eventually(lambda: self._looks >= looks or not engine.searching)


class Searcher:
    """An engine whose searches are listened to."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def start(self, limits: Limits, fen: str | None = None, moves: tuple[str, ...] = ()) -> Listener:
        """Start a search of a position, by an engine that knows nothing yet."""
        self.engine.new_game()
        self.engine.set_position(fen, moves)
        return self.go(limits)

    def go(self, limits: Limits) -> Listener:
        """Start a search."""
        listener = Listener()
        self.engine.go(limits, listener.on_report, listener.on_done)
        return listener

    def search(self, limits: Limits, fen: str | None = None, moves: tuple[str, ...] = ()) -> Listener:
        """Search a position and wait for the result."""
        listener = self.start(limits, fen, moves)
        assert listener.result is not None
        assert self.engine.wait(TIMEOUT)
        return listener


def legal(fen: str | None) -> set[str]:
    """Give the legal moves of a position."""
    return {move.uci() for move in chess.Board(fen or chess.STARTING_FEN).legal_moves}


def check_lines(infos: list[Info], fen: str | None, moves: tuple[str, ...] = (), full_mates: bool = True) -> None:
    """Check that depths, nodes and times grow, and that lines are legal and end with the game.

    Where the clock stops a search, or another thread's entry in the hash table cuts a line short, a mate need not be
    told in full (`full_mates`); but no line is longer than the mate, and one that is as long ends with it.
    """
    board = chess.Board(fen or chess.STARTING_FEN)
    for move in moves:
        board.push_uci(move)
    for before, after in pairwise(infos):
        assert before.depth <= after.depth
        assert before.nodes <= after.nodes
        assert before.time_ms <= after.time_ms
    for info in infos:
        assert info.seldepth >= 1
        assert 0 <= info.hashfull <= 1000
        line = board.copy()
        for played, move in enumerate(info.pv):
            over = line.outcome() is not None or line.is_repetition(3) or line.halfmove_clock >= 100
            assert played == 0 or not over  # a game that is over already may still be analysed
            line.push(line.parse_uci(move))
        if info.score.mate is not None and info.bound is Bound.EXACT:
            plies = 2 * abs(info.score.mate) - (info.score.mate > 0)
            assert len(info.pv) == plies or (not full_mates and len(info.pv) < plies)
            assert line.is_checkmate() == (len(info.pv) == plies)
