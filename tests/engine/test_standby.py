"""The stand-in for the engine: its moves are legal and in time, and the real engine takes over from it."""

import queue
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import chess
import pytest

from knightadder.engine.bench import BENCH_POSITIONS
from knightadder.engine.ending import Ending
from knightadder.engine.errors import EngineError, OptionError, PositionError
from knightadder.engine.info import CurrentMove, Info, Message, Result
from knightadder.engine.limits import Limits
from knightadder.engine.standby import Standby
from knightadder.engine.standby_search import StandbySearch

TIMEOUT = 60.0
HOUR = 3_600_000  # milliseconds
ONE_PLY = Limits(depth=1, movetime=HOUR)


class Clock:
    """A clock that shows what the test says, and moves on by a step each time that somebody looks."""

    def __init__(self, step: float = 0.0) -> None:
        self.now = 100.0
        self.step = step

    def __call__(self) -> float:
        self.now += self.step
        return self.now


class Listener:
    """Takes what a search reports."""

    def __init__(self) -> None:
        self.news: list[Info | CurrentMove | Message] = []
        self.results: queue.SimpleQueue[Result] = queue.SimpleQueue()

    def start(self, standby: Any, limits: Limits) -> None:
        standby.go(limits, self.news.append, self.results.put)

    def result(self) -> Result:
        return self.results.get(timeout=TIMEOUT)

    @property
    def lines(self) -> list[Info]:
        return [news for news in self.news if isinstance(news, Info)]


class Recorder:
    """An engine that only notes what it is told."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.limits: Limits | None = None

    def set_option(self, name: str, text: str | None) -> list[str]:
        self.calls.append((name, text))
        if name == "BookFile":
            raise EngineError("no such book")
        return [f"{name} heard"]

    def set_position(self, fen: str | None, moves: Sequence[str]) -> None:
        self.calls.append((fen, tuple(moves)))

    def go(self, limits: Limits, on_info: object, on_done: Callable[[Result], None]) -> None:
        self.limits = limits
        on_done(Result("a1a1", None, None))


def hand_over(standby: Standby, engine: Recorder) -> list[str] | None:
    return standby.hand_over(cast(Any, engine))


def search(standby: Standby, limits: Limits) -> tuple[Result, list[Info]]:
    """Search to the end, and give all lines of analysis."""
    listener = Listener()
    listener.start(standby, limits)
    result = listener.result()
    assert standby.wait(TIMEOUT)
    assert [type(news) for news in listener.news[:1]] == [Message]
    assert "still being compiled" in cast(Message, listener.news[0]).text
    return result, listener.lines


def set_up(board: chess.Board) -> Standby:
    """Give a stand-in with the game of a board."""
    standby = Standby()
    standby.set_option("UCI_Chess960", str(board.chess960))
    names, replay = [], board.root()
    for move in board.move_stack:
        names.append(replay.uci(move))
        replay.push(move)
    standby.set_position(board.root().fen(), names)
    return standby


def check(board: chess.Board) -> None:
    """Check the result and the lines of a short search against the rules."""
    standby = set_up(board)
    assert sorted(standby.legal_moves()) == sorted(board.uci(move) for move in board.legal_moves)
    result, lines = search(standby, ONE_PLY)
    assert [line.depth for line in lines] == [1]
    replay = board.copy()
    for name in lines[-1].pv:
        move = replay.parse_uci(name)
        assert replay.uci(move) == name  # castling is written as the option says
        replay.push(move)
    assert (result.best_move, result.info) == (lines[-1].pv[0], lines[-1])


# --- Moves ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fen", BENCH_POSITIONS)
def test_moves_are_legal(fen: str) -> None:
    check(chess.Board(fen))


def chess960_boards() -> Iterator[chess.Board]:
    """Give positions some random moves after a start position of Chess960."""
    chance = random.Random(960)
    for number in range(7, 960, 40):
        board = chess.Board.from_chess960_pos(number)
        for _ in range(chance.randrange(16)):
            board.push(chance.choice(list(board.legal_moves)))
        yield board


@pytest.mark.parametrize("board", list(chess960_boards()), ids=lambda board: board.fen())
def test_moves_of_chess960_are_legal(board: chess.Board) -> None:
    check(board)


@pytest.mark.parametrize("chess960", [False, True])
@pytest.mark.parametrize("side", ["w", "b"])
def test_castling_is_written_as_the_option_says(side: str, chess960: bool) -> None:
    board = chess.Board(f"r3k2r/8/8/8/8/8/8/R3K2R {side} KQkq - 0 1", chess960=chess960)
    castling = [board.uci(move) for move in board.generate_castling_moves()]
    for name in castling:
        standby = set_up(board)
        assert search(standby, Limits(depth=1, movetime=HOUR, searchmoves=(name,)))[0].best_move == name
        standby.set_position(board.fen(), [name])
        board.push_uci(name)
        assert standby.fen() == board.fen()
        board.pop()


def mate_in(board: chess.Board, moves: int) -> bool:
    """Say by brute force whether the side to move can mate in so many moves."""
    for move in list(board.legal_moves):
        board.push(move)
        mates = board.is_checkmate() or (moves > 1 and any(board.legal_moves) and defence_fails(board, moves - 1))
        board.pop()
        if mates:
            return True
    return False


def defence_fails(board: chess.Board, moves: int) -> bool:
    """Say whether every move of the defender lets him be mated in so many moves."""
    for reply in list(board.legal_moves):
        board.push(reply)
        mated = mate_in(board, moves)
        board.pop()
        if not mated:
            return False
    return True


@pytest.mark.parametrize(
    ("fen", "moves"),
    [
        ("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1", 1),
        ("r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5Q2/PPPP1PPP/RNB1K1NR w KQkq - 2 3", 1),
        ("rnbqkbnr/pppp1ppp/8/4p3/6P1/5P2/PPPPP2P/RNBQKBNR b KQkq - 0 2", 1),
        ("6k1/8/8/8/8/1r6/r7/6K1 b - - 0 1", 1),
        ("7k/5K2/8/6P1/8/8/8/6R1 w - - 99 90", 1),  # mate comes before the fifty-move rule
        ("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1", 2),
        ("6k1/8/8/8/1r6/r7/8/6K1 b - - 0 1", 2),
    ],
)
def test_mates_are_found_and_told(fen: str, moves: int) -> None:
    board = chess.Board(fen)
    assert mate_in(board, moves) and not (moves > 1 and mate_in(board, moves - 1))
    result, lines = search(set_up(board), Limits(depth=2 * moves, movetime=HOUR))
    assert lines[-1].score.mate == moves
    board.push_uci(cast(str, result.best_move))
    assert board.is_checkmate() if moves == 1 else defence_fails(board, moves - 1)


def test_being_mated_is_a_negative_score() -> None:
    board = chess.Board("6k1/1r6/8/8/8/8/r7/6K1 w - - 0 1")
    assert defence_fails(board, 1)
    _, lines = search(set_up(board), Limits(depth=3, movetime=HOUR))
    assert lines[-1].score.mate == -1


@pytest.mark.parametrize(
    "fen",
    ["7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "6k1/5ppp/8/8/8/8/1r6/r3K3 w - - 0 1"],
)
def test_without_a_legal_move_there_is_no_best_move(fen: str) -> None:
    assert search(set_up(chess.Board(fen)), ONE_PLY)[0] == Result(None, None, None)


@pytest.mark.parametrize(
    ("fen", "drawing"),
    [
        ("7k/8/6K1/8/8/8/8/5Q2 w - - 0 1", "f1f7"),  # stalemate
        ("7k/8/8/8/8/8/R7/K7 w - - 99 90", "a2b2"),  # the fifty-move rule
        ("7k/8/8/8/8/8/1n6/K7 w - - 0 1", "a1b2"),  # bare kings
    ],
)
def test_draws_count_as_draws(fen: str, drawing: str) -> None:
    _, lines = search(set_up(chess.Board(fen)), Limits(depth=1, movetime=HOUR, searchmoves=(drawing,)))
    assert lines[-1].score.cp == 0


def test_a_repetition_counts_as_a_draw() -> None:
    board = chess.Board("7k/8/8/8/8/8/Q7/K7 w - - 0 1")
    for name in ("a2a3", "h8g8", "a3a2"):
        board.push_uci(name)
    _, lines = search(set_up(board), Limits(depth=1, movetime=HOUR, searchmoves=("g8h8",)))
    assert lines[-1].score.cp == 0


def test_a_piece_is_not_given_away_nor_left_hanging() -> None:
    board = chess.Board("k7/8/2p5/3q4/8/8/8/K2R4 w - - 0 1")
    assert search(set_up(board), ONE_PLY)[0].best_move == "d1d5"
    board = chess.Board("k7/8/2p5/3p4/8/8/8/K2Q4 w - - 0 1")
    assert search(set_up(board), ONE_PLY)[0].best_move != "d1d5"


def test_a_reply_that_ends_the_game_is_no_move_to_ponder_on() -> None:
    board = chess.Board("7k/8/6K1/8/8/8/8/R7 b - - 0 1")
    result, lines = search(set_up(board), Limits(depth=3, movetime=HOUR))
    assert lines[-1].pv == ("h8g8", "a1a8")
    assert (result.best_move, result.ponder) == ("h8g8", None)


def test_searchmoves_are_respected_where_they_are_legal() -> None:
    standby = Standby()
    assert search(standby, Limits(depth=2, movetime=HOUR, searchmoves=("a2a3", "e2e5")))[0].best_move == "a2a3"
    assert search(standby, Limits(depth=1, movetime=HOUR, searchmoves=("e2e5",)))[0].best_move in standby.legal_moves()


def test_a_stopped_search_has_the_best_move_so_far() -> None:
    board = chess.Board("k7/8/2p5/3q4/8/8/8/K2R4 w - - 0 1", chess960=True)
    ready = StandbySearch(board.copy(), lambda: False)
    [line] = ready.deepen(list(board.legal_moves), 1)
    stopped = StandbySearch(board.copy(), lambda: stopped.nodes > ready.nodes)
    assert [line.depth for line in stopped.deepen(list(board.legal_moves))] == [1]
    assert stopped.best_line == line.moves


# --- The clock --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limits", "most"),
    [
        (Limits(movetime=1000), 1.0),
        (Limits(wtime=10_000, btime=10, winc=100, binc=0), 1.5),
        (Limits(wtime=10_000, btime=10, depth=60), 1.5),  # not even a depth makes it lose on time
        (Limits(wtime=1, btime=HOUR), 0.01),
        (Limits(wtime=-500, btime=HOUR), 0.01),
        (Limits(wtime=10_000, btime=10_000, movestogo=1), 8.0),
    ],
)
def test_the_share_of_the_clock_is_not_exceeded(limits: Limits, most: float) -> None:
    clock = Clock(step=0.001)
    standby = Standby(clock)
    began = clock.now
    result, _ = search(standby, limits)
    assert result.best_move in standby.legal_moves()
    assert clock.now - began < most + 0.01


@pytest.mark.parametrize(
    "limits",
    [Limits(infinite=True), Limits(), Limits(depth=1), Limits(nodes=1), Limits(mate=1), Limits(infinite=True, wtime=1)],
)
def test_without_a_clock_a_search_waits_for_stop(limits: Limits) -> None:
    standby, listener = Standby(), Listener()
    listener.start(standby, limits)
    assert standby.searching
    assert listener.news == []
    standby.stop()
    assert listener.result().best_move in standby.legal_moves()
    standby.close()


def test_stop_ends_a_search_with_a_clock() -> None:
    standby, listener = Standby(), Listener()
    listener.start(standby, Limits(movetime=HOUR))
    standby.stop()
    assert listener.result().best_move in standby.legal_moves()
    standby.stop()


def test_pondering_waits_for_the_hit() -> None:
    standby, listener = Standby(), Listener()
    listener.start(standby, Limits(depth=1, movetime=HOUR, ponder=True))
    assert standby.searching
    assert listener.news == []
    standby.ponderhit()
    assert listener.result().best_move in standby.legal_moves()


def test_pondering_can_be_stopped() -> None:
    standby, listener = Standby(), Listener()
    listener.start(standby, Limits(movetime=HOUR, ponder=True))
    standby.stop()
    standby.ponderhit()
    assert listener.result().best_move in standby.legal_moves()


# --- Handing over -----------------------------------------------------------------------------------------------------


def test_options_and_position_are_handed_over() -> None:
    standby, engine = Standby(), Recorder()
    assert standby.set_option("hash", "64") == []
    standby.set_option("SyzygyPath", "a")
    standby.set_option("BookFile", "missing")
    standby.set_option("SyzygyPath", "b")
    standby.set_position(None, ["e2e4", "e7e5"])
    assert hand_over(standby, engine) == ["Hash heard", "SyzygyPath heard", "no such book"]
    assert engine.calls == [
        ("Hash", "64"),
        ("SyzygyPath", "b"),
        ("BookFile", "missing"),
        (None, ("e2e4", "e7e5")),
    ]
    assert engine.limits is None


@pytest.mark.parametrize(
    ("limits", "rest"),
    [
        (Limits(infinite=True), Limits(infinite=True)),
        (Limits(depth=9), Limits(depth=9)),
        (Limits(movetime=10_000), Limits(movetime=6_000)),
        (
            Limits(wtime=1_000_000, btime=1_000_000, winc=10, searchmoves=("a2a3",)),
            Limits(wtime=996_000, btime=996_000, winc=10, searchmoves=("a2a3",)),
        ),
        (Limits(wtime=1000, btime=1000, ponder=True), Limits(wtime=1000, btime=1000, ponder=True)),
    ],
)
def test_a_search_is_handed_over_with_what_is_left_of_its_time(limits: Limits, rest: Limits) -> None:
    clock = Clock()
    standby, engine, listener = Standby(clock), Recorder(), Listener()
    listener.start(standby, limits)
    clock.now += 4
    assert hand_over(standby, engine) == []
    assert engine.limits == rest
    assert listener.result().best_move == "a1a1"  # from the real engine
    assert listener.results.empty()


def test_after_a_ponder_hit_only_the_time_since_then_is_spent() -> None:
    clock = Clock()
    standby, engine, listener = Standby(clock), Recorder(), Listener()
    listener.start(standby, Limits(movetime=10_000, ponder=True))
    clock.now += 100
    standby.ponderhit()
    clock.now += 1
    assert hand_over(standby, engine) == []
    assert engine.limits == Limits(movetime=9_000)


def test_a_search_that_has_used_half_of_its_time_is_not_handed_over() -> None:
    clock = Clock()
    standby, engine, listener = Standby(clock), Recorder(), Listener()
    listener.start(standby, Limits(movetime=10_000))
    clock.now += 5
    assert hand_over(standby, engine) is None
    assert engine.calls == []
    clock.now += 5
    assert listener.result().best_move in standby.legal_moves()
    standby.wait()
    assert hand_over(standby, engine) == []
    assert engine.limits is None


def test_a_search_that_was_stopped_is_not_handed_over() -> None:
    clock = Clock()
    standby, engine, listener = Standby(clock), Recorder(), Listener()
    listener.start(standby, Limits(infinite=True))
    standby.stop()
    assert hand_over(standby, engine) is None
    clock.now += 1
    assert listener.result().best_move in standby.legal_moves()


# --- The game ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fen", "moves"),
    [
        ("", []),
        ("8/8/8/8/8/8/8/8 w - - 0 1", []),
        ("kk6/8/8/8/8/8/8/K7 w - - 0 1", []),
        ("k7/8/8/8/8/8/8/KR6 b KX - 0 1", []),
        ("k7/1Q6/8/8/8/8/8/K7 w - - 0 1", []),
        ("k7/8/8/8/8/8/8/KR6 w", []),
        ("k7/8/8/8/8/8/8/KR6 w - - 0 10000", []),
        ("k7/8/8/8/8/8/8/KR6 w - - +1 1", []),
        (None, ["e2e5"]),
        (None, ["0000"]),
        (None, ["e2e4", "e2e4"]),
        (None, ["what"]),
    ],
)
def test_what_is_illegal_is_refused_and_changes_nothing(fen: str | None, moves: list[str]) -> None:
    standby = Standby()
    standby.set_position(None, ["d2d4"])
    before = standby.fen()
    with pytest.raises(PositionError):
        standby.set_position(fen, moves)
    assert standby.fen() == before


def test_a_bad_option_is_refused_and_not_handed_over() -> None:
    standby, engine = Standby(), Recorder()
    with pytest.raises(OptionError):
        standby.set_option("Hash", "0")
    assert hand_over(standby, engine) == []
    assert engine.calls == [(None, ())]


@pytest.mark.parametrize(
    ("fen", "moves", "ending"),
    [
        (None, [], None),
        (None, ["f2f3", "e7e5", "g2g4", "d8h4"], Ending.CHECKMATE),
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", [], Ending.STALEMATE),
        ("7k/8/8/8/8/8/R7/K7 w - - 100 90", [], Ending.FIFTY_MOVES),
        (None, ["g1f3", "g8f6", "f3g1", "f6g8"] * 2, Ending.REPETITION),
        ("7k/8/8/8/8/8/8/K7 w - - 0 1", [], Ending.DEAD_POSITION),
    ],
)
def test_the_end_of_the_game_is_known(fen: str | None, moves: list[str], ending: Ending | None) -> None:
    standby = Standby()
    standby.set_position(fen, moves)
    assert standby.ending() is ending
