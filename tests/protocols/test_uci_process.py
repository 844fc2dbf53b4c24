"""What breaks young engines, each point end to end: the real engine as a child process, python-chess as the judge."""

import queue
import subprocess
import sys
from collections.abc import Iterator

import chess
import chess.engine
import pytest
from engine_process import run_without_reader
from uci_driver import COMMAND, TIMEOUT, Analysis, Search, UciProcess

from knightadder.core.layout import MAX_DEPTH

MATE_IN_ONE = "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1"  # Ra8
CHECKMATE = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3"
STALEMATE = "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"
NO_POSITION = "info string there is no position: the last position was refused"


@pytest.fixture(scope="module")
def running() -> Iterator[list[UciProcess]]:
    """Hold the process that the tests share, in a list so that it can be replaced when a test broke it."""
    processes = [UciProcess()]
    yield processes
    processes[0].close()


@pytest.fixture
def uci(running: list[UciProcess]) -> Iterator[UciProcess]:
    """Give the shared process, idle, with default options and the initial position."""
    if not running[0].running:
        running[0].close()
        running[0] = UciProcess()
    process = running[0]
    process.ask(
        "setoption name MultiPV value 1",
        "setoption name UCI_Chess960 value false",
        "setoption name UCI_ShowWDL value false",
        "setoption name Hash value 16",
        "ucinewgame",
        "position startpos",
    )
    yield process
    # A process in the middle of something, after a failed test, is of no use to the next one. The count waits in order
    # for all that still runs, and nothing but its own lines may come before its end.
    try:
        process.send("stop", "position startpos", "go perft 1")
        idle = not [line for line in process.read_until("Nodes searched") if line.startswith(("info", "bestmove"))]
    except (EOFError, OSError, queue.Empty):
        idle = False
    if not idle:
        process.close()


def is_over(board: chess.Board) -> bool:
    """Tell whether a line of play ends here: mate, stalemate, or a draw that no move can undo."""
    return (
        board.is_checkmate()
        or board.is_stalemate()
        or board.is_insufficient_material()
        or board.is_fifty_moves()
        or board.is_repetition(3)
    )


def check_line(board: chess.Board, analysis: Analysis) -> None:
    """Check that a principal variation is legal, does not go on past the end of the game, and keeps its promise."""
    board = board.copy()
    for number, text in enumerate(analysis.pv):
        assert number == 0 or not is_over(board), f"{analysis} goes past the end of the game"
        move = chess.Move.from_uci(text)
        assert board.is_legal(move), f"{text} in {analysis} is illegal"
        board.push(move)
    if analysis.mate is not None and analysis.bound == "exact":
        assert len(analysis.pv) <= (2 * analysis.mate - 1 if analysis.mate > 0 else -2 * analysis.mate)


def check_search(board: chess.Board, search: Search) -> None:
    """Check everything that an interface can find wrong in the answer to one `go`."""
    assert search.analysis, "no info line with a score came before bestmove"
    for analysis in search.analysis:
        check_line(board, analysis)
    last = [analysis for analysis in search.analysis if analysis.multipv == 1][-1]
    assert last.pv[:1] == (search.best_move,)
    board = board.copy()
    board.push_uci(search.best_move)
    if search.ponder_move is not None:
        assert not is_over(board), "a ponder move in a game that is over"
        assert board.is_legal(chess.Move.from_uci(search.ponder_move))


# --- Start, identity, leaving -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (b"", None),
        (b"isready", "readyok"),
        (b"position startpos\ngo infinite\n", "bestmove"),
        (b"go depth 2\ngo infinite\nquit\n", "bestmove"),
        (b"position startpos moves e2e4\nd\ngo perft 3\nquit\nd\n", "Nodes searched: 13160"),
        (b"go nodes 18446744073709551616\nquit\n", "bestmove"),
    ],
)
def test_the_end_of_input_ends_the_process(text: bytes, wanted: str | None) -> None:
    ended = subprocess.run(COMMAND, input=text, capture_output=True, timeout=TIMEOUT, check=False)
    assert ended.returncode == 0
    assert ended.stderr == b""
    lines = ended.stdout.decode().splitlines()
    if wanted is not None:
        assert lines[-1].startswith(wanted)


@pytest.mark.parametrize("moment", ["loading", "idle", "searching"])
def test_quit_ends_the_process_at_any_moment(moment: str) -> None:
    with UciProcess() as process:
        _reach(process, moment)
        process.send("quit")
        status, _ = process.wait()
        assert status == 0
        assert process.errors() == ""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends Ctrl-C to a whole console, this test's too")
@pytest.mark.parametrize("moment", ["loading", "idle", "searching", "counting"])
def test_ctrl_c_ends_the_process_at_any_moment(moment: str) -> None:
    with UciProcess() as process:
        _reach(process, moment)
        process.interrupt()
        status, _ = process.wait()
        assert status == 130
        assert process.errors() == ""


def _reach(process: UciProcess, moment: str) -> None:
    process.send("uci")
    process.read_until("uciok")
    if moment == "loading":
        return
    process.ask()
    if moment == "searching":
        process.send("go infinite")
        process.read_until("info depth")
    elif moment == "counting":
        process.ask("go perft 9")


@pytest.mark.skipif(sys.platform == "win32", reason="a pipe breaks otherwise there")
@pytest.mark.parametrize("text", [b"uci\n", b"", b"go infinite\n", b"go perft 12\nisready\n"])
def test_a_reader_that_goes_away_ends_the_process_quietly(text: bytes) -> None:
    assert run_without_reader(COMMAND, text) == (0, b"")


# --- Best moves: when, and which --------------------------------------------------------------------------------------


@pytest.mark.parametrize("go", ["go infinite", "go", "go ponder wtime 1000 btime 1000"])
@pytest.mark.parametrize(("fen", "best_move"), [(MATE_IN_ONE, "a1a8"), (CHECKMATE, "(none)"), (STALEMATE, "(none)")])
def test_bestmove_is_held_back_until_stop_even_when_nothing_is_left_to_find(
    uci: UciProcess, go: str, fen: str, best_move: str
) -> None:
    uci.send(f"position fen {fen}", go)
    # Such a position is soon searched through, and bestmove could be said wrongly.
    lines = uci.read_until(f"info depth {MAX_DEPTH}" if fen == MATE_IN_ONE else "info depth 0")
    assert not [line for line in (*lines, *uci.ask(), *uci.ask()) if line.startswith("bestmove")]
    assert uci.search("stop").best_move == best_move


def test_after_a_ponder_miss_the_next_search_is_a_real_one(uci: UciProcess) -> None:
    uci.search("position startpos moves e2e4 e7e5", "go ponder wtime 3000 btime 3000", "stop")
    board = chess.Board()
    board.push_uci("e2e4")
    board.push_uci("c7c5")
    for go in ("go wtime 3000 btime 3000", "go depth 5"):
        search = uci.search("position startpos moves e2e4 c7c5", go)
        check_search(board, search)
    assert search.analysis[-1].depth == 5


def test_stop_while_idle_says_nothing(uci: UciProcess) -> None:
    assert uci.ask("stop", "stop") == []
    uci.search("go depth 1")
    assert uci.ask("stop", "ponderhit") == []


@pytest.mark.parametrize("fen", [CHECKMATE, STALEMATE])
@pytest.mark.parametrize("go", ["depth 3", "wtime 100 btime 100", "nodes 100", "movetime 10", "mate 1"])
def test_without_a_legal_move_there_is_no_best_move(uci: UciProcess, fen: str, go: str) -> None:
    search = uci.search(f"position fen {fen}", f"go {go}")
    assert search.lines[-1] == "bestmove (none)"


@pytest.mark.parametrize("moves", ["", " moves e2e4"])
@pytest.mark.parametrize(
    "go",
    [
        "wtime 100",
        "btime 100",
        "binc 10 btime 100 winc 10 wtime 100",
        "movestogo 40 wtime 200 btime 200",
        "wtime 100 btime 100 movestogo 1",
        "wtime 1 btime 1",
        "wtime 0 btime 0",
        "wtime 0 btime 0 winc 100 binc 100",
        "wtime -50 btime -1000",
        "movetime 1",
        "movetime 0",
        "movetime -1",
        "nodes 1",
        "depth 0",
        "wtime abc",
        "wtime btime",
        "movetime x",
        "depth",
        f"nodes {'9' * 5000}",
    ],
)
def test_every_clock_gets_a_legal_move(uci: UciProcess, go: str, moves: str) -> None:
    board = chess.Board()
    for move in moves.split()[1:]:
        board.push_uci(move)
    check_search(board, uci.search(f"position startpos{moves}", f"go {go}"))


# --- Input that is not as it should be --------------------------------------------------------------------------------


def test_line_ends_empty_lines_and_junk(uci: UciProcess) -> None:
    assert uci.ask(b"\r\n", b"\n", b"   \r\n", b"position startpos moves e2e4\r\n") == []
    assert uci.fen().split()[1] == "b"
    assert uci.ask("xyzzy position startpos") == []
    assert uci.fen().split()[1] == "w"
    assert uci.ask("xyzzy") == ["info string unknown command: xyzzy"]
    assert len(uci.ask(b"\xff\xfe\x00\x01\n")) == 1
    assert uci.search("go depth 2").best_move != "(none)"


@pytest.mark.parametrize(
    "position",
    [
        "fen",
        "fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w",
        "fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w\x1b[2J KQkq - 0 1",
        "fen 4k3/8/8/8/8/8/4R3/4K3 w - - 0 1 moves e2e4",
        "startpos moves e2e5",
        "startpos moves e2e4 e2e4",
        "startpos moves e2e4\x1b[2J",
    ],
)
def test_what_is_no_position_is_refused_in_a_line_and_leaves_none(uci: UciProcess, position: str) -> None:
    uci.ask("position startpos moves d2d4")
    answer = uci.ask(f"position {position}")
    assert len(answer) == 1, answer
    assert answer[0].startswith("info string ")
    assert ("\\x1b" in answer[0]) == ("\x1b" in position)
    assert uci.ask("go nodes 100") == [NO_POSITION, "bestmove (none)"]


def test_perft_can_be_stopped(uci: UciProcess) -> None:
    assert uci.ask("go perft 12") == []
    uci.send("stop")
    assert uci.read() == "info string perft was stopped before its end"
    assert uci.search("go depth 2").best_move != "(none)"


def test_bench_can_be_stopped_and_keeps_the_position(uci: UciProcess) -> None:
    uci.ask("position startpos moves e2e4 e7e5")
    before = uci.fen()
    uci.send("bench 60", "stop")
    uci.read_until("info string bench was stopped before its end")
    assert uci.fen() == before
    uci.send("bench 1", "eval")  # `eval` waits for the end
    uci.read_until("Evaluation")
    assert uci.fen() == before
    assert uci.search("go depth 2").best_move != "(none)"


# --- python-chess as an interface -------------------------------------------------------------------------------------


@pytest.mark.parametrize("chess960", [False, True])
def test_python_chess_plays_and_analyses(chess960: bool) -> None:
    board = chess.Board.from_chess960_pos(42) if chess960 else chess.Board()
    with chess.engine.SimpleEngine.popen_uci(list(COMMAND), timeout=TIMEOUT) as engine:
        assert engine.id["name"].startswith("Knightadder ")
        for _ in range(8):
            played = engine.play(board, chess.engine.Limit(time=0.05), ponder=True)
            assert played.move is not None
            board.push(played.move)
        lines = engine.analyse(board, chess.engine.Limit(depth=5), multipv=3)
        assert [line["multipv"] for line in lines] == [1, 2, 3]
        with engine.analysis(board) as analysis:
            for info in analysis:
                if info.get("depth", 0) >= 4:
                    break
        played = engine.play(board, chess.engine.Limit(white_clock=1, black_clock=1), game="another")
        assert played.move is not None
        assert board.is_legal(played.move)
