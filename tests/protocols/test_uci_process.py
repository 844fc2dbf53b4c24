"""What breaks young engines, each point end to end: the real engine as a child process, python-chess as the judge."""

import queue
import re
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
MATE_IN_TWO = "7k/8/8/8/8/8/R7/1R2K3 w - - 0 1"  # Ra7 and Rb8
MATED_IN_ONE = "7k/R7/8/8/8/8/8/1R2K3 b - - 0 1"  # Kg8 is the only move
CHECKMATE = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3"
STALEMATE = "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"
NO_POSITION = "info string there is no position: the last one was refused"
KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"


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


def test_uci_and_isready(uci: UciProcess) -> None:
    uci.send("uci")
    lines = uci.read_until("uciok")
    assert lines[0].startswith("id name Knightadder ")
    assert lines[1].startswith("id author ")
    assert "" not in lines
    assert {"option name Hash", "option name MultiPV", "option name UCI_ShowWDL"} <= {
        line.split(" type")[0] for line in lines
    }
    assert uci.ask() == []


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (b"", None),
        (b"uci\n", "uciok"),
        (b"isready", "readyok"),
        (b"uci\nposition startpos\ngo depth 3\n", "bestmove"),
        (b"position startpos\ngo infinite\n", "bestmove"),
        (b"go perft 3\n", "Nodes searched: 8902"),
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


def test_ponderhit_turns_pondering_into_a_search_that_ends(uci: UciProcess) -> None:
    board = chess.Board()
    uci.send("go ponder wtime 1 btime 1")
    lines = uci.read_until("info depth 5")
    assert not [line for line in (*lines, *uci.ask()) if line.startswith("bestmove")]
    assert board.is_legal(chess.Move.from_uci(uci.search("ponderhit").best_move))


def test_after_a_ponder_miss_the_next_search_is_a_real_one(uci: UciProcess) -> None:
    uci.search("position startpos moves e2e4 e7e5", "go ponder wtime 3000 btime 3000", "stop")
    board = chess.Board()
    board.push_uci("e2e4")
    board.push_uci("c7c5")
    for go in ("go wtime 3000 btime 3000", "go depth 5 wtime 3000 btime 3000"):
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
    ],
)
def test_every_clock_gets_a_legal_move(uci: UciProcess, go: str, moves: str) -> None:
    board = chess.Board()
    for move in moves.split()[1:]:
        board.push_uci(move)
    check_search(board, uci.search(f"position startpos{moves}", f"go {go}"))


@pytest.mark.parametrize("clock", ["wtime 1 btime 1", "movestogo 1 wtime -5 btime -5", ""])
def test_go_depth_ignores_the_clock(uci: UciProcess, clock: str) -> None:
    search = uci.search(f"go depth 6 {clock}")
    assert search.analysis[-1].depth == 6
    check_search(chess.Board(), search)


@pytest.mark.parametrize(
    ("fen", "depth"),
    [
        (chess.STARTING_FEN, 8),
        (KIWIPETE, 7),
        ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", 9),
        ("8/8/8/4k3/8/8/3pK3/8 w - - 0 1", 8),  # the capture leaves bare kings
        ("8/8/1KP5/3r4/8/8/8/k7 w - - 0 1", 9),  # Saavedra: promotion, stalemate tricks
        ("7k/8/5KQ1/8/8/8/8/8 w - - 0 1", 6),  # mate beside stalemate
        ("6k1/6p1/8/8/8/q7/1r6/6K1 w - - 0 1", 6),  # about to be mated
        ("8/8/8/8/4k3/8/4p3/4K3 w - - 96 100", 8),  # fifty moves within the horizon
        ("4k3/8/8/8/8/8/3R4/4K3 w - - 97 120", 8),
        ("8/1p2KP2/1p4q1/1Pp5/2P5/N1Pp1k2/3P4/1N6 b - - 76 40", 8),  # drawn by fifty moves, whatever mate is found
        ("6k1/5ppp/8/8/8/8/8/R3K3 w Q - 99 80", 5),  # mate on the hundredth ply counts
        ("k7/8/8/8/8/8/q7/2Q4K w - - 0 1", 7),  # perpetual checks
        (MATE_IN_TWO, 6),
    ],
)
def test_lines_of_analysis_are_sound(uci: UciProcess, fen: str, depth: int) -> None:
    check_search(chess.Board(fen), uci.search(f"position fen {fen}", f"go depth {depth}"))


def test_lines_of_analysis_know_the_game_before_them(uci: UciProcess) -> None:
    moves = ["g1f3", "g8f6", "f3g1", "f6g8", "g1f3", "g8f6", "f3g1"]  # one move from the third occurrence
    board = chess.Board()
    for move in moves:
        board.push_uci(move)
    search = uci.search(f"position startpos moves {' '.join(moves)}", "go depth 7")
    check_search(board, search)
    search = uci.search(f"position startpos moves {' '.join(moves)}", "go depth 5 searchmoves f6g8")
    check_search(board, search)
    assert search.best_move == "f6g8"
    assert search.ponder_move is None
    assert search.analysis[-1].cp == 0


@pytest.mark.parametrize(("fen", "moves", "depth"), [(MATE_IN_ONE, 1, 4), (MATE_IN_TWO, 2, 6)])
def test_a_mate_is_told_in_full(uci: UciProcess, fen: str, moves: int, depth: int) -> None:
    board = chess.Board(fen)
    search = uci.search(f"position fen {fen}", f"go depth {depth}")
    check_search(board, search)
    last = search.analysis[-1]
    assert last.mate == moves
    for move in last.pv:
        board.push_uci(move)
    assert board.is_checkmate()


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
    "fen",
    [
        "",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w",
        "rnbqkbnr/pppppppp/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "rnbqkbnr/pppppppp/8/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "rnbqkbnr/ppppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "rnbqkbnr/ppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "rnbqkbnr/ppppxppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "kkkkk3/8/8/8/8/8/8/3KKKKK w - - 0 1",
        "8/8/8/8/8/8/8/4K3 w - - 0 1",
        "8/8/8/8/8/8/8/8 w - - 0 1",
        "PPPPPPPP/8/8/8/4k3/8/8/4K3 w - - 0 1",
        "4k3/8/8/8/8/8/8/p3K3 w - - 0 1",
        "4k3/8/8/8/8/8/4R3/4K3 w - - 0 1",
        "8/8/8/8/8/8/4k3/4K3 w - - 0 1",
        "r3k2r/8/8/8/8/8/8/R3K2R w KQ!? - 0 1",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq e9 0 1",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR x KQkq - 0 1",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - many 1",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - -1 1",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w\x1b[2J KQkq - 0 1",
    ],
)
def test_a_broken_fen_is_refused_and_leaves_no_position(uci: UciProcess, fen: str) -> None:
    uci.ask("position startpos moves e2e4")
    answer = uci.ask(f"position fen {fen}")
    assert len(answer) == 1, answer
    assert answer[0].startswith("info string ")
    assert ("\\x1b" in answer[0]) == ("\x1b" in fen)
    assert uci.ask("go nodes 100") == [NO_POSITION, "bestmove (none)"]
    assert len(uci.ask(f"position fen {fen} moves e2e4")) == 1
    assert uci.ask("d") == [NO_POSITION]


@pytest.mark.parametrize(
    ("fen", "left", "notes"),
    [
        (
            "4k3/8/8/8/8/8/8/R3K3 w KQkq - 0 1",
            "4k3/8/8/8/8/8/8/R3K3 w Q - 0 1",
            ["impossible castling rights Kkq left out"],
        ),
        (
            "r3k2r/8/8/8/8/8/8/4K2R w KQ - 0 1",
            "r3k2r/8/8/8/8/8/8/4K2R w K - 0 1",
            ["impossible castling right Q left out"],
        ),
        (
            "4k3/8/8/8/8/8/8/4K3 w KQkq e6 0 1",
            "4k3/8/8/8/8/8/8/4K3 w - - 0 1",
            ["impossible castling rights KQkq left out", "impossible en passant square e6 left out"],
        ),
        (
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq e4 0 1",
            chess.STARTING_FEN,
            ["impossible en passant square e4 left out"],
        ),
    ],
)
def test_what_cannot_be_is_left_out_and_said(uci: UciProcess, fen: str, left: str, notes: list[str]) -> None:
    assert uci.ask(f"position fen {fen}") == [f"info string {note}" for note in notes]
    assert uci.fen() == left
    assert uci.search("go nodes 300").best_move in {move.uci() for move in chess.Board(left).legal_moves}


@pytest.mark.parametrize("moves", ["e2e5", "e2e4 e2e4", "0000", "zzzz", "e2e4\x1b[2J"])
def test_an_illegal_move_is_refused_and_leaves_no_position(uci: UciProcess, moves: str) -> None:
    uci.ask("position startpos moves d2d4")
    answer = uci.ask(f"position startpos moves {moves}")
    assert len(answer) == 1, answer
    assert answer[0].startswith("info string ")
    assert ("\\x1b" in answer[0]) == ("\x1b" in moves)
    assert uci.ask("go nodes 100") == [NO_POSITION, "bestmove (none)"]


# --- Long games, talk during a search, options ------------------------------------------------------------------------


def test_isready_is_answered_during_a_search(uci: UciProcess) -> None:
    uci.send("go infinite")
    uci.read_until("info depth")
    for _ in range(3):
        assert not [line for line in uci.ask() if line.startswith("bestmove")]
    assert uci.search("stop").best_move != "(none)"


@pytest.mark.parametrize(
    ("chess960", "fen", "castling"),
    [
        (False, "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", ["e1g1", "e8c8"]),
        (True, "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", ["e1h1", "e8a8"]),
        (True, "r3k2r/8/8/8/8/8/8/R3K2R w HAha - 0 1", ["e1a1", "e8h8"]),
        (True, "1rk4r/8/8/8/8/8/8/1RK4R w HBhb - 0 1", ["c1h1", "c8b8"]),
        (True, "4k3/8/8/8/8/8/8/5RK1 w F - 0 1", ["g1f1"]),
    ],
)
def test_castling_is_written_as_the_option_says(uci: UciProcess, chess960: bool, fen: str, castling: list[str]) -> None:
    board = chess.Board(fen, chess960=chess960)
    uci.ask(f"setoption name UCI_Chess960 value {str(chess960).lower()}")
    played: list[str] = []
    for move in castling:
        assert board.is_castling(board.parse_uci(move))
        search = uci.search(
            f"position fen {fen}" + (f" moves {' '.join(played)}" if played else ""), f"go depth 2 searchmoves {move}"
        )
        assert search.best_move == move
        for analysis in search.analysis:
            check_line(board, analysis)
        board.push_uci(move)
        played.append(move)
    uci.ask(f"position fen {fen} moves {' '.join(played)}")
    assert chess.Board(uci.fen(), chess960=chess960).board_fen() == board.board_fen()


# --- Our own commands -------------------------------------------------------------------------------------------------


def test_perft_counts_move_by_move(uci: UciProcess) -> None:
    def count(board: chess.Board, depth: int) -> int:
        if depth == 0:
            return 1
        total = 0
        for move in list(board.legal_moves):
            board.push(move)
            total += count(board, depth - 1)
            board.pop()
        return total

    board = chess.Board()
    expected = {}
    for move in list(board.legal_moves):
        board.push(move)
        expected[move.uci()] = count(board, 2)
        board.pop()
    uci.send("go perft 3")
    *counts, empty, total = uci.read_until("Nodes")
    assert {line.split(": ")[0]: int(line.split(": ")[1]) for line in counts} == expected
    assert empty == ""
    assert total == "Nodes searched: 8902"


def test_perft_can_be_stopped(uci: UciProcess) -> None:
    assert uci.ask("go perft 12") == []
    uci.send("stop")
    assert uci.read() == "info string perft was stopped before its end"
    assert uci.search("go depth 2").best_move != "(none)"


def test_bench_is_repeatable(uci: UciProcess) -> None:
    counts = []
    for _ in range(2):
        uci.send("bench 3")
        lines = [uci.read()]
        while not re.fullmatch(r"\d+ nps", lines[-1]):
            lines.append(uci.read())
        counts.append(lines[-2])
    assert re.fullmatch(r"\d+ nodes", counts[0])
    assert counts[0] == counts[1]


def test_bench_can_be_stopped(uci: UciProcess) -> None:
    uci.send("bench 60", "stop")
    uci.read_until("info string bench was stopped before its end")
    assert uci.search("position startpos", "go depth 2").best_move != "(none)"


def test_eval_and_help_say_something(uci: UciProcess) -> None:
    assert uci.ask("eval")
    assert uci.ask("help")


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
