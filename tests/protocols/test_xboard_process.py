"""XBoard's protocol end to end: the real engine as a child process, python-chess as the judge and as an interface."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import chess
import chess.engine
import pytest
from engine_process import COMMAND, TIMEOUT, run_without_reader
from xboard_driver import XBoardProcess

MATE_IN_ONE = "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1"  # Ra8


@pytest.fixture(scope="module")
def running() -> Iterator[list[XBoardProcess]]:
    """Hold the process that the tests share, in a list so that it can be replaced when a test broke it."""
    processes: list[XBoardProcess] = []
    yield processes
    for process in processes:
        process.close()


@pytest.fixture
def xboard(running: list[XBoardProcess]) -> XBoardProcess:
    """Give the shared process in a new game, in force mode, at a tenth of a second a move."""
    if not running or not running[0].running:
        running[:] = [XBoardProcess()]
        running[0].start()
    running[0].ask("exit", "nopost", "easy", "force")  # what a failed test has left behind
    assert running[0].ask("new", "st 0.1", "force") == []
    return running[0]


def move_after(process: XBoardProcess, board: chess.Board, *lines: str) -> list[str]:
    """Send lines, the last of which makes the engine move; check that move, and give what is said with and after it."""
    answers = process.ask(*lines)
    [move] = [answer.split()[1] for answer in answers if answer.startswith("move ")]
    assert board.is_legal(board.parse_xboard(move))
    board.push_xboard(move)
    return [answer for answer in answers if not answer.startswith(("move ", "Hint: "))]


# --- Playing --------------------------------------------------------------------------------------------------------


def test_analysis_is_shown_and_follows_the_game(xboard: XBoardProcess) -> None:
    board = chess.Board()
    xboard.send("post", "analyze")
    for move in (None, "e2e4", "c7c5"):
        if move is not None:
            xboard.send(f"usermove {move}")
            board.push_uci(move)
        # Lines about the position before may still come: there the other side begins.
        while not chess.engine._parse_xboard_post(xboard.read(), board).get("pv"):
            pass
    xboard.send(".")
    status = xboard.read_until("stat01: ")[-1].split()
    assert len(status) == 7
    assert board.is_legal(chess.Move.from_uci(status[6]))
    assert status[5] == str(board.legal_moves.count())
    xboard.ask("exit")
    assert xboard.ask("usermove g1f3") == []


# --- Start and end ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "last"),
    [
        (b"", None),
        (b"xboard\n", None),
        (b"new\nst 1\nusermove e2e4\n", "move "),
        (b"new\nst 1\nusermove e2e4\nping 4", "pong 4"),
        (b"post\nanalyze\n", None),
        (b"go\nquit\n", None),
        (b"\xff\x00\n" + b"x" * 100_000 + b"\nping 3\n", "pong 3"),
    ],
)
def test_the_end_of_input_ends_the_process(text: bytes, last: str | None) -> None:
    ended = subprocess.run([*COMMAND, "xboard"], input=text, capture_output=True, timeout=TIMEOUT, check=False)
    assert ended.returncode == 0
    assert ended.stderr == b""
    if last is not None:
        assert ended.stdout.decode().splitlines()[-1].startswith(last)


@pytest.mark.parametrize("moment", ["loading", "thinking", "analysing"])
@pytest.mark.parametrize("interrupt", [False, True])
def test_quit_and_ctrl_c_end_the_process_at_any_moment(moment: str, interrupt: bool) -> None:
    if interrupt and sys.platform == "win32":
        pytest.skip("Windows sends Ctrl-C to a whole console, this test's too")
    with XBoardProcess() as process:
        process.send("xboard", "protover 2")
        process.read_until("feature option")
        if moment != "loading":
            process.read_until("feature done=1")
            process.send("post", "st 1000", "go" if moment == "thinking" else "analyze")
            process.read_until("3 ")
        if interrupt:
            process.interrupt()
        else:
            process.send("quit")
        status, lines = process.wait()
        assert status == (130 if interrupt else 0)
        assert not [line for line in lines if line.startswith("move")]
        assert process.errors() == ""


@pytest.mark.skipif(sys.platform == "win32", reason="a pipe breaks otherwise there")
def test_a_reader_that_goes_away_ends_the_process_quietly() -> None:
    assert run_without_reader([*COMMAND, "xboard"], b"xboard\nprotover 2\n") == (0, b"")


def test_the_engine_as_it_is_started_for_uci_understands_xboard() -> None:
    with XBoardProcess("uci") as process:
        features = process.start()
        assert features[0] == "feature done=0"
        board = chess.Board()
        board.push_uci("e2e4")
        assert move_after(process, board, "new", "st 0.05", "usermove e2e4") == []
        process.send("quit")
        assert process.wait() == (0, [])


# --- python-chess as an interface -------------------------------------------------------------------------------------


@pytest.fixture
def patient_python_chess(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let python-chess wait for the features of an engine; by itself it takes one for mute after two seconds."""
    plain = asyncio.BaseEventLoop.call_later

    def call_later(loop: Any, delay: float, *arguments: Any, **named: Any) -> asyncio.TimerHandle:
        return plain(loop, TIMEOUT if delay == 2.0 else delay, *arguments, **named)

    monkeypatch.setattr(asyncio.BaseEventLoop, "call_later", call_later)


@pytest.mark.usefixtures("patient_python_chess")
@pytest.mark.parametrize("chess960", [False, True])
def test_python_chess_plays_and_analyses(chess960: bool) -> None:
    board = chess.Board.from_chess960_pos(42) if chess960 else chess.Board()
    with chess.engine.SimpleEngine.popen_xboard([*COMMAND, "xboard"], timeout=TIMEOUT) as engine:
        assert engine.id["name"].startswith("Knightadder ")
        engine.configure({"memory": 32, "OwnBook": False})
        for number in range(8):
            limit = chess.engine.Limit(time=0.05) if number % 2 else chess.engine.Limit(depth=4, white_clock=5)
            ponder = number > 3
            played = engine.play(board, limit, ponder=ponder, info=chess.engine.INFO_ALL)
            assert played.move is not None
            assert board.is_legal(played.move)
            # While it ponders, what was said last may be about the move to come.
            assert ponder or played.info["pv"][0] == played.move
            board.push(played.move)
        info = engine.analyse(board, chess.engine.Limit(depth=5))
        assert info["depth"] >= 5
        assert board.is_legal(info["pv"][0])
        played = engine.play(chess.Board(MATE_IN_ONE), chess.engine.Limit(time=0.05), game="another")
        assert played.move == chess.Move.from_uci("a1a8")
