"""The command line: arguments, output and exit statuses, with a stand-in for the compiled engine."""

import errno
import io
import os
import re
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import chess
import pytest
from command_line import plain, use_terminal
from command_line import run_command as _run
from engine_process import TIMEOUT

from knightadder import __version__, cli
from knightadder.core.compilation import core
from knightadder.engine.errors import EngineError, OptionError, PositionError
from knightadder.engine.info import Bound, CurrentMove, Info, Message, Result, Score
from knightadder.engine.limits import Limits
from knightadder.library.results import line_of


def _info(pv, score=None, depth=3, multipv=1, bound=Bound.EXACT):
    return Info(
        depth=depth,
        seldepth=depth + 4,
        multipv=multipv,
        score=score or Score(cp=34),
        bound=bound,
        wdl=None,
        nodes=1000 * depth,
        nps=2_000_000,
        hashfull=12,
        tbhits=0,
        time_ms=1500,
        pv=tuple(pv.split()),
    )


class FakeEngine:
    """An engine that knows python-chess's rules and reports what the test prepared."""

    reports = (
        Message("a word"),
        CurrentMove(1, "e2e4", 1, 10, 10, 0, 3000),
        _info("e2e4 e7e5", depth=1),
        _info("e2e4 c7c5 g1f3", Score(cp=-7), depth=2),
    )
    result = Result("e2e4", "c7c5", None)

    def __init__(self, options):
        self.options = options
        self.board = chess.Board()
        self.limits = None
        self.stopped = threading.Event()
        self.closed = False

    def set_position(self, fen=None):
        try:
            self.board = chess.Board(fen or chess.STARTING_FEN, chess960=self.options.chess960)
        except ValueError as error:
            raise PositionError(f"bad position: {error}") from None
        return ()

    def set_option(self, name, text):
        return [f"{name} is {text}"]

    def fen(self):
        return self.board.fen()

    def go(self, limits, on_info, on_done):
        self.limits = limits

        def search():
            for report in self.reports:
                on_info(report)
            if limits.infinite:
                self.stopped.wait(TIMEOUT)
            on_done(self.result)

        threading.Thread(target=search).start()
        return self.stop

    def perft(self, depth):
        return {self.board.uci(move): depth for move in self.board.legal_moves}

    def stop(self):
        self.stopped.set()

    def close(self):
        self.closed = True


@pytest.fixture
def engine(monkeypatch):
    """Give the engines that the command loads, as a list, and let it load stand-ins."""
    engines = []

    def load(options):
        engines.append(FakeEngine(options))
        return engines[-1]

    monkeypatch.setattr(cli, "_load", load)
    return engines


# --- the command as a whole ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["uci", "xboard"])
def test_hash_and_threads_to_begin_with(name):
    given = (name, "--hash", "3", "--threads", "2")
    result = _process(*given, input="uci\nsetoption name Clear Hash\nquit\n" if name == "uci" else "quit\n")
    assert result.returncode == 0 and not result.stderr
    if name == "uci":
        assert "option name Hash type spin default 3 min 1 max 33554432\n" in result.stdout
        assert "option name Threads type spin default 2 min 1 max 512\n" in result.stdout


def test_too_many_threads_are_refused_in_a_line(capsys):
    assert cli.main(["uci", "--threads", "513"]) == 2
    assert capsys.readouterr().err == "knightadder: option Threads: 513 is not between 1 and 512\n"


def test_help_names_every_command_and_its_examples_are_valid(capsys):
    status, out, _ = _run(capsys, "--help")
    assert status == 0
    listed = out.partition("commands:")[2].partition("examples:")[0]
    assert re.findall(r"^    (\w+)", listed, re.MULTILINE) == [
        *("uci", "xboard", "analyse", "perft", "bench", "warmup", "play", "annotate", "puzzles", "report"),
        "drills",
        *("suite", "match", "tune", "datagen", "genfens", "train", "book", "tablebases", "lichess"),
    ]
    examples = re.findall(r"^  knightadder (\S.*?)(?:   .*)?$", out.partition("examples:")[2], re.MULTILINE)
    assert len(examples) >= 5
    import shlex

    for example in examples:
        if not example.startswith("speak"):
            cli.build_parser().parse_args(shlex.split(example))


@pytest.mark.parametrize("words", [("uci",), ("warmup",), ("match",), ("tablebases", "verify"), ("drills", "list")])
def test_the_help_of_each_command_says_what_it_does(capsys, words):
    status, out, _ = _run(capsys, *words, "--help")
    description = out.partition("\n\n")[2].partition("\n\n")[0]
    assert status == 0
    assert len(description.split()) >= 4
    assert not description.startswith(("options:", "positional arguments:"))


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["--nonsense"],
        ["perft"],
        ["perft", "0"],
        ["perft", "-1"],
        ["perft", "three"],
        ["bench", "0"],
        ["analyse"],
        ["analyse", "startpos", "--depth", "0"],
        ["analyse", "startpos", "--time", "0"],
        ["analyse", "startpos", "--time", "nan"],
        ["analyse", "startpos", "--time", "inf"],
        ["analyse", "startpos", "--nodes", "0"],
        ["analyse", "startpos", "--eval", "best"],
        ["analyse", "startpos", "--multipv", "0"],
        ["cache", "now"],
    ],
)
def test_bad_arguments_end_with_status_2_and_a_message(capsys, engine, arguments):
    status, out, err = _run(capsys, *arguments)
    assert status == 2
    assert out == ""
    assert "knightadder" in err
    assert engine == []


@pytest.mark.parametrize(
    ("words", "program", "suggested"),
    [
        (["anotate", "games.pgn"], "knightadder", "annotate"),
        (["book", "fnd", "games.sqlite"], "knightadder book", "find"),
        (["book", "find", "games.sqlite", "--piecs=Nd5"], "knightadder book find", "--pieces"),
        (["analyse", "startpos", "--eval", "pest"], "knightadder analyse", "pesto"),
    ],
)
def test_a_mistyped_word_is_answered_by_its_own_command_with_a_similar_word(capsys, words, program, suggested):
    status, _, err = _run(capsys, *words)
    assert status == 2
    assert err.startswith(f"usage: {program} [-h]")
    assert err.splitlines()[-1].startswith(f"{program}: error: ")
    assert err.endswith(f"; did you mean {suggested}?\n")


def test_an_option_out_of_range_ends_with_status_2(capsys, engine):
    status, out, err = _run(capsys, "analyse", "startpos", "--multipv", "1000")
    assert (status, out, engine) == (2, "", [])
    assert re.fullmatch(r"knightadder: .*MultiPV.*\n", err)


def test_a_perft_too_deep_ends_with_status_2(capsys, engine):
    assert _run(capsys, "perft", "61") == (2, "", "knightadder: perft: expected a depth from 1 to 60\n")
    assert engine == []


def test_what_the_engine_says_of_its_options_goes_beside_the_analysis(capsys, engine, tmp_path):
    words = ["--syzygy", str(tmp_path), "--threads", "2", "--hash", "32", "--eval", "pesto", "--option", "Contempt=a=b"]
    status, out, err = _run(capsys, "analyse", "startpos", "--depth", "1", *words)
    said = ("Threads is 2", "Hash is 32", f"SyzygyPath is {tmp_path}", "EvalType is pesto", "Contempt is a=b", "a word")
    assert (status, err.splitlines()) == (0, [f"knightadder: {line}" for line in said])
    assert " is " not in out


@pytest.mark.parametrize(
    "words", [["--hash", "99999999"], ["--option", "Nonsense=1"], ["--eval-file", "missing.nnue"], ["--syzygy", "no"]]
)
def test_an_option_that_the_engine_refuses_is_one_line(words):
    result = _process("analyse", "startpos", "--depth", "1", *words)
    assert (result.returncode, result.stdout) == (2, "")
    assert re.fullmatch(r"knightadder: .+\n", result.stderr)


@pytest.mark.parametrize("command", [["analyse", "8/8/8 w"], ["perft", "2", "--fen", "8/8/8 w"]])
def test_a_bad_position_ends_with_status_2_and_one_line(capsys, engine, command):
    status, out, err = _run(capsys, *command)
    assert (status, out) == (2, "")
    assert re.fullmatch(r"knightadder: bad position: .*\n", err)
    assert engine[0].closed


def test_failing_to_load_ends_with_status_1_and_one_line(capsys, monkeypatch):
    def fail(_):
        raise EngineError("the engine cannot be loaded")

    monkeypatch.setattr(cli, "_load", fail)
    assert _run(capsys, "perft", "1") == (1, "", "knightadder: the engine cannot be loaded\n")


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (EngineError("it fails"), 1, "program: it fails\n"),
        (OptionError("no such value"), 2, "program: no such value\n"),
        (PositionError("no king"), 2, "program: no king\n"),
        (OSError("no room"), 1, "program: no room\n"),
        (OSError(errno.ENAMETOOLONG, "File name too long", "x.pgn"), 1, "program: File name too long: x.pgn\n"),
        (BrokenPipeError(), 1, ""),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_programs_end_with_the_status_of_their_error(capsys, error, status, said):
    def fail():
        raise error

    assert cli.exit_status("program", fail) == status
    assert capsys.readouterr() == ("", said)


def test_a_current_folder_that_is_gone_is_named(tmp_path, monkeypatch, capsys):
    def gone():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))

    monkeypatch.setattr(os, "getcwd", gone)
    fault = f"knightadder: cannot use the current folder: {os.strerror(errno.ENOENT)}\n"
    for words in (["annotate", "games.pgn"], ["report", "games.pgn", "--player", "me"]):
        assert _run(capsys, *words) == (1, "", fault)


@pytest.mark.parametrize(
    ("system", "error"),
    [(sys.platform, BrokenPipeError()), ("win32", OSError(errno.EINVAL, os.strerror(errno.EINVAL)))],
)
def test_a_reader_that_leaves_early_is_no_error_message(engine, monkeypatch, capfd, system, error):
    class Gone(io.StringIO):
        def write(self, text):
            raise error

    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(sys, "stdout", Gone())
    assert cli.main(["perft", "1"]) == 1
    assert capfd.readouterr().err == ""


def test_a_full_disk_is_one_line(engine, monkeypatch, capfd):
    class Full(io.StringIO):
        def write(self, text):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(sys, "stdout", Full())
    for words in (["perft", "1"], ["--help"], ["analyse", "--help"], ["--version"]):
        assert cli.main(words) == 1
        assert capfd.readouterr().err == "knightadder: cannot write standard output: No space left on device\n"


@pytest.mark.parametrize("errors", ["strict", "surrogateescape"])  # Python's choices for most systems, and for Windows
@pytest.mark.parametrize(
    ("encoding", "name", "shown"),
    [("cp1252", "Größe 將棋", "Größe \\u5c07\\u68cb"), ("utf-8", "caf\udce9", "caf\\udce9")],
)
def test_characters_that_the_output_lacks_are_escaped(monkeypatch, tmp_path, encoding, name, shown, errors):
    output = io.TextIOWrapper(io.BytesIO(), encoding, errors)
    monkeypatch.setattr(sys, "stdout", output)
    file = tmp_path / name
    assert cli.main(["drills", "list", "--drills-file", str(file)]) == 0
    assert output.buffer.getvalue().decode(encoding) == f"There are no drills in {tmp_path / shown}.\n"


# --- perft and bench -----------------------------------------------------------------------------------------------


def test_perft_prints_nodes_time_and_speed(capsys, engine):
    status, out, _ = _run(capsys, "perft", "3")
    assert status == 0
    assert re.fullmatch(r"60 nodes, \d+\.\d{3} s, \d+\.\d M nodes/s\n", out)
    assert engine[0].closed


@pytest.mark.parametrize("quoted", [True, False])
def test_a_fen_works_with_and_without_quotes(capsys, engine, quoted):
    fen = "4k3/8/8/8/8/8/4P3/4K3 b - - 3 40"
    arguments = [fen] if quoted else fen.split()
    assert _run(capsys, "perft", "1", "--fen", *arguments)[0] == 0
    assert engine[0].fen() == fen


def test_chess960_reaches_the_options(capsys, engine):
    _run(capsys, "perft", "1", "--chess960")
    _run(capsys, "perft", "1")
    assert [each.options.chess960 for each in engine] == [True, False]


def test_ctrl_c_ends_perft_with_status_130(capsys, engine, monkeypatch):
    def perft(self, depth):
        os.kill(os.getpid(), signal.SIGINT)
        self.stopped.wait(TIMEOUT)
        return {}

    monkeypatch.setattr(FakeEngine, "perft", perft)
    assert _run(capsys, "perft", "9")[:2] == (130, "")
    assert engine[0].stopped.is_set()
    assert engine[0].closed


def test_ctrl_c_while_the_command_is_loaded_is_no_traceback(capsys, monkeypatch):
    monkeypatch.setattr(cli, "build_parser", lambda: signal.raise_signal(signal.SIGINT))
    assert _run(capsys, "perft", "9") == (130, "", "")


@pytest.mark.parametrize("module", ["knightadder.cli", "knightadder.protocols.uci_conversation"])
def test_ctrl_c_while_the_command_is_imported_is_no_traceback(module):
    code = """
import runpy, sys

class Interrupting:
    def find_spec(self, name, *more):
        if name == wanted:
            raise KeyboardInterrupt

wanted = sys.argv.pop()
sys.meta_path.insert(0, Interrupting())
runpy.run_module("knightadder", run_name="__main__")
"""
    result = subprocess.run([sys.executable, "-c", code, module], capture_output=True, text=True, timeout=TIMEOUT)
    assert (result.returncode, result.stdout, result.stderr) == (130, "", "")


# --- analyse -------------------------------------------------------------------------------------------------------


def test_analyse_prints_plain_lines_when_not_on_a_terminal(capsys, engine):
    status, out, err = _run(capsys, "analyse", "startpos", "--depth", "2")
    assert (status, err) == (0, "knightadder: a word\n")
    assert out.splitlines() == [
        "depth 1/5  +0.34 (White's view)  1000 nodes  2000000 nps  1.50 s  1. e4 e5",
        "depth 2/6  -0.07 (White's view)  2000 nodes  2000000 nps  1.50 s  1. e4 c5 2. Nf3",
        "Best move: e4",
    ]
    assert "\x1b" not in out
    assert engine[0].closed


@pytest.mark.parametrize(
    ("arguments", "limits"),
    [
        (["--depth", "7"], Limits(depth=7)),
        (["--time", "2.5"], Limits(movetime=2500)),
        (["--time", "0.0001"], Limits(movetime=1)),
        (["--nodes", "5000", "--depth", "30"], Limits(nodes=5000, depth=30)),
        ([], Limits(infinite=True)),
    ],
)
def test_limits_of_an_analysis(capsys, engine, monkeypatch, arguments, limits):
    monkeypatch.setattr(FakeEngine, "reports", ())
    real = FakeEngine.go

    def go(self, limits, *callbacks):
        self.stop()
        return real(self, limits, *callbacks)

    monkeypatch.setattr(FakeEngine, "go", go)
    assert _run(capsys, "analyze", "startpos", *arguments)[0] == 0
    assert engine[0].limits == limits


def test_several_lines_are_numbered(capsys, engine, monkeypatch):
    monkeypatch.setattr(FakeEngine, "reports", (_info("e2e4"), _info("d2d4", multipv=2)))
    out = _run(capsys, "analyse", "startpos", "--depth", "1", "--multipv", "2")[1]
    assert engine[0].options.multipv == 2
    assert [line[:8] for line in out.splitlines()[:2]] == ["1. depth", "2. depth"]


def test_ctrl_c_ends_an_analysis_with_the_best_line_so_far(capsys, engine, monkeypatch):
    class Interrupting(int):
        """Presses Ctrl-C when it is shown, as one who has read enough."""

        def __format__(self, form):
            signal.raise_signal(signal.SIGINT)
            return "never shown"

    reports = (*FakeEngine.reports, replace(_info("e2e4"), nps=Interrupting()))
    monkeypatch.setattr(FakeEngine, "reports", reports)
    status, out, _ = _run(capsys, "analyse", "startpos")
    assert status == 0
    assert engine[0].stopped.is_set()
    assert out.splitlines()[-1] == "Best move: e4"


@pytest.mark.parametrize(
    ("fen", "verdict"),
    [
        ("R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1", "Checkmate: there is no move"),
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "Stalemate: there is no move"),
    ],
)
def test_a_finished_game_has_no_best_move(capsys, engine, monkeypatch, fen, verdict):
    monkeypatch.setattr(FakeEngine, "reports", ())
    monkeypatch.setattr(FakeEngine, "result", Result(None, None, None))
    assert _run(capsys, "analyse", fen, "--depth", "1") == (0, verdict + "\n", "")
    assert _run(capsys, "analyse", fen) == (0, verdict + "\n", "")
    assert engine[-1].limits == Limits(depth=1)  # else it would wait for Ctrl-C


def test_the_table_on_a_terminal_shows_the_newest_of_each_line(capsys, engine, monkeypatch):
    reports = (
        _info("e2e4 e7e5", depth=1),
        _info("e2e4 c7c5 g1f3", depth=2),
        _info("d2d4 d7d5", Score(mate=-2), depth=2, multipv=2),
    )
    monkeypatch.setattr(FakeEngine, "reports", reports)
    use_terminal(monkeypatch, 120)
    status, out, _ = _run(capsys, "analyse", "startpos", "--depth", "2", "--multipv", "2")
    text = plain(out)
    assert status == 0
    assert "Score (White)" in text
    assert re.search(r"2/6 .*\+0\.34 .*1\. e4 c5 2\. Nf3", text)
    assert re.search(r"2/6 .*#-2 .*1\. d4 d5", text)
    assert "2,000 nodes, 2.00 M nodes/s, 1.5 s, hash 1 % full" in text
    assert text.rstrip().endswith("Best move: e4")


@pytest.mark.parametrize(
    ("score", "bound", "for_white", "for_black"),
    [
        (Score(cp=0), Bound.EXACT, "+0.00", "+0.00"),
        (Score(cp=123), Bound.EXACT, "+1.23", "-1.23"),
        (Score(cp=-5), Bound.LOWER, ">=-0.05", "<=+0.05"),
        (Score(cp=7), Bound.UPPER, "<=+0.07", ">=-0.07"),
        (Score(mate=3), Bound.EXACT, "#3", "#-3"),
        (Score(mate=-2), Bound.EXACT, "#-2", "#2"),
        (Score(mate=0), Bound.EXACT, "#", "#"),
    ],
)
def test_scores_are_from_whites_view(score, bound, for_white, for_black):
    info = _info("e2e4", score, bound=bound)
    white = chess.Board()
    black = white.copy()
    black.turn = chess.BLACK
    assert cli.bounded_score(line_of(info, white.fen())) == for_white
    assert cli.bounded_score(line_of(info, black.fen())) == for_black


# --- warmup and loading --------------------------------------------------------------------------------------------


def test_warmup_says_where_the_code_is(capsys, engine, monkeypatch):
    status, out, _ = _run(capsys, "warmup")
    assert status == 0
    assert re.fullmatch(rf"Ready after \d+\.\d s; the compiled core is {re.escape(str(core.image_file()))}\n", out)
    assert engine[0].closed
    monkeypatch.setattr(core, "image_file", lambda: Path("place") / "core.image")
    assert _run(capsys, "warmup")[1].endswith("; the compiled core cannot be kept in place\n")


# --- the real thing, in processes of its own -----------------------------------------------------------------------


def _process(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "knightadder", *arguments], capture_output=True, text=True, timeout=TIMEOUT, **options
    )


def test_nothing_heavy_is_imported_before_it_is_needed():
    heavy = {"numpy", "numba", "llvmlite", "chess", "rich", "argparse"}
    modules = "knightadder.cli, knightadder.protocols.uci_conversation, knightadder.protocols.xboard"
    code = f"import sys, {modules}; print(sorted({heavy} & set(sys.modules)))"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output == "[]\n"
    # Nor does the parser of all commands need what only some of them use.
    heavy = {"numpy", "numba", "scipy", "chess", "rich", "dask", "distributed", "matplotlib"}
    code = f"import sys, knightadder.cli as cli; cli.build_parser(); print(sorted({heavy} & set(sys.modules)))"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output == "[]\n"


def test_the_module_runs_as_a_program():
    result = _process("--version")
    assert (result.returncode, result.stdout) == (0, f"knightadder {__version__}\n")


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX")
@pytest.mark.parametrize("closed", [(1,), (2,), (1, 2)])
@pytest.mark.parametrize("arguments", [[], ["perft", "2"]])
def test_closed_streams_are_no_error(arguments, closed):
    result = subprocess.run(
        [sys.executable, "-m", "knightadder", *arguments],
        input="quit\n",
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        preexec_fn=lambda: [os.close(number) for number in closed],
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")


def test_perft_counts_what_python_chess_counts():
    fen = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
    result = _process("perft", "2", "--divide", "--fen", fen)
    board = chess.Board(fen)
    expected = {}
    for move in board.legal_moves:
        board.push(move)
        expected[move.uci()] = board.legal_moves.count()
        board.pop()
    *lines, _, summary = result.stdout.splitlines()
    assert {move: int(count) for move, count in (line.split(": ") for line in lines)} == expected
    assert summary.startswith("2039 nodes, ")


def test_analyse_finds_a_mate():
    result = _process("analyse", "6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", "--depth", "3")
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[-1] == "Best move: Ra8#"
    assert "  #1 (White's view)  " in result.stdout
