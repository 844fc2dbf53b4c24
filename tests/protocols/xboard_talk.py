"""XBoard's loop in this process, with an engine that thinks what the test says and has its rules from python-chess."""

import threading
from collections.abc import Callable, Iterator, Sequence

import chess
from loop_talk import TIMEOUT, Load, LoopTalk

from knightadder.engine.errors import PositionError
from knightadder.engine.info import Bound, CurrentMove, Ending, Info, Message, Result, Score
from knightadder.engine.limits import Limits
from knightadder.engine.options import Option, Options
from knightadder.protocols.conversation import Connection
from knightadder.protocols.xboard import XBoard


def line(cp: int = 0, pv: Sequence[str] = ("e7e5",), depth: int = 7) -> Info:
    """Give a line of analysis."""
    return Info(depth, 9, 1, Score(cp=cp), Bound.EXACT, None, 1234, 5000, 0, 0, 560, tuple(pv))


class FakeEngine:
    """Searches until the test calls :meth:`find`, or until it is stopped; then it has the first legal move."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.problem: str | None = None
        self.calls: list[str] = []
        self.board = chess.Board()
        self.limits = Limits()
        self.searches = 0
        self.ready = True
        self.fails = False  # whether the next search cannot be started
        self.book: dict[str, int] = {}
        self.on_info: Callable[[Info | CurrentMove | Message], None] = lambda news: None
        self._on_done: Callable[[Result], None] | None = None
        self._started = threading.Condition()

    def _must_be_idle(self) -> None:
        assert self._on_done is None, "the engine is searching"

    def set_option(self, name: str, text: str | None) -> list[str]:
        self._must_be_idle()
        option: Option = self.options.set(name, text)
        self.calls.append(f"{option.name}={text}")
        return [f"tables of {text}"] if option.name == "SyzygyPath" else []

    def set_position(self, fen: str | None = None, moves: Sequence[str] = ()) -> tuple[str, ...]:
        self._must_be_idle()
        try:
            board = chess.Board(fen or chess.STARTING_FEN, chess960=self.options.chess960)
            if board.status() & ~chess.STATUS_BAD_CASTLING_RIGHTS:
                raise ValueError
            for move in moves:
                board.push_uci(move)
        except ValueError:
            raise PositionError("no such position") from None
        self.board = board
        return ("something left out",) if board.status() else ()

    def new_game(self) -> None:
        self._must_be_idle()
        self.calls.append("new_game")

    def hurry(self) -> None:
        self.ready = True

    def book_moves(self) -> dict[str, int]:
        self._must_be_idle()
        return self.book

    def fen(self) -> str:
        return self.board.fen()

    def legal_moves(self) -> list[str]:
        return [self.board.uci(move) for move in self.board.legal_moves]

    def ending(self) -> Ending | None:
        for over, ending in (
            (self.board.is_checkmate(), Ending.CHECKMATE),
            (self.board.is_stalemate(), Ending.STALEMATE),
            (self.board.halfmove_clock >= 100, Ending.FIFTY_MOVES),
            (self.board.is_repetition(3), Ending.REPETITION),
            (self.board.is_insufficient_material(), Ending.DEAD_POSITION),
        ):
            if over:
                return ending
        return None

    def go(
        self,
        limits: Limits,
        on_info: Callable[[Info | CurrentMove | Message], None],
        on_done: Callable[[Result], None],
    ) -> None:
        self._must_be_idle()
        if self.fails:
            self.fails = False
            raise RuntimeError("broken")
        with self._started:
            self.limits, self.on_info, self._on_done = limits, on_info, on_done
            self.searches += 1
            self._started.notify_all()

    def wait_for_search(self, number: int) -> None:
        """Wait until this number of searches has been started."""
        with self._started:
            assert self._started.wait_for(lambda: self.searches >= number, TIMEOUT)

    def find(self, move: str, ponder: str | None = None, cp: int = 0) -> None:
        """End the search with this result."""
        on_done, self._on_done = self._on_done, None
        assert on_done is not None, "no search to end"
        on_done(Result(move, ponder, line(cp, [move])))

    def find_nothing(self) -> None:
        """End the search without a move, which only a defect could do."""
        on_done, self._on_done = self._on_done, None
        assert on_done is not None, "no search to end"
        on_done(Result(None, None, None))

    def stop(self) -> None:
        if self._on_done is not None:
            self.calls.append("stop")
            moves = self.legal_moves()
            if moves:  # as the real engine, which reports the line of its last iteration again
                self.on_info(line(0, moves[:1]))
            on_done, self._on_done = self._on_done, None
            on_done(Result(moves[0] if moves else None, None, None))

    def ponderhit(self) -> None:
        self.calls.append("ponderhit")

    def wait(self, timeout: float | None = None) -> bool:
        return self._on_done is None

    def close(self) -> None:
        self.calls.append("close")


class Talk(LoopTalk):
    """An XBoard loop in a thread."""

    def __init__(self, load: Load | None = None) -> None:
        self._asked = 0
        super().__init__(FakeEngine(Options()), lambda *given: XBoard(Connection(*given)), load)

    def ask(self, *lines: str | bytes) -> list[str]:
        """Send lines, and give what is answered before the answer to a ping, whatever the engine does meanwhile.

        If it thinks about its move, the pong would wait for that: then an unknown command takes its place, which is
        answered at once, but only what was sent after loading has been carried out by then.
        """
        self._asked += 1
        self.send(*lines, f"sync{self._asked}")
        return self.read_until(f"Error (unknown command): sync{self._asked}")[:-1]

    def think(self, *lines: str) -> list[str]:
        """Send lines that end with one that starts a search, wait for it, and give what was answered before."""
        started = self.engine.searches
        answers = self.ask(*lines)
        self.engine.wait_for_search(started + 1)
        return answers

    def answer(self, move: str, ponder: str | None = None, cp: int = 0) -> list[str]:
        """Let the engine find a move, and give what it says."""
        self.engine.find(move, ponder, cp)
        return self.ask()


def loaded() -> Iterator[Talk]:
    """Give a conversation whose engine is loaded, and end it."""
    talk = Talk()
    talk.send("ping 1")
    assert talk.read() == "pong 1"
    yield talk
    talk.leave()
