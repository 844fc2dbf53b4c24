"""The subcommand `suite`, mostly with an engine that says what the test prepared."""

import concurrent.futures
import contextlib
import io
import json
import os
import pickle
import re
import shlex
import signal
import subprocess
import sys
import threading
from pathlib import Path

import chess.engine
import pytest
from command_line import plain, run_command, use_terminal
from waiting import TIMEOUT, eventually

from knightadder.engine.errors import EngineError
from knightadder.uci import uci_engine
from knightadder.workshop.problems import read_problems
from knightadder.workshop.suite import command
from knightadder.workshop.suite import solver as module
from knightadder.workshop.suite.solver import Solver, read_answer

LIMIT = chess.engine.Limit(depth=1)

SCRIPTED = Path(__file__).parents[1] / "scripted_engine.py"
DATA = Path(__file__).parents[2] / "data"

ONE = "7k/8/8/8/8/8/6P1/K7 w - -"
TWO = "7k/8/8/8/8/8/1P6/K7 w - -"
THREE = "k7/8/2K5/8/8/8/8/7R w - -"


def _info(depth, move, score="cp 10", multipv=1):
    return (
        f"info depth {depth} seldepth {depth} multipv {multipv} score {score} nodes {depth * 1000} "
        f"time {depth * 10} pv {move}"
    )


class Suite:
    """A suite on disk and an engine that answers to it."""

    def __init__(self, folder):
        self.folder = folder
        self.file = folder / "suite.epd"
        self.script = folder / "script.json"
        self.answers = {}
        self.lines = []

    def add(self, epd, answers):
        self.lines.append(epd)
        self.answers[" ".join(epd.split()[:4]) + " 0 1"] = answers
        return self

    @property
    def command(self):
        return [sys.executable, str(SCRIPTED), str(self.script)]

    def arguments(self, *more):
        """Write both files and give the command line."""
        self.file.write_text("\n".join(self.lines) + "\n", encoding="utf-8")
        self.script.write_text(json.dumps(self.answers), encoding="utf-8")
        command = shlex.join(self.command) if os.name == "posix" else subprocess.list2cmdline(self.command)
        return ["suite", str(self.file), "--engine", f"cmd={command}", *more]

    def _log(self):
        file = Path(f"{self.script}.log")
        return file.read_text("utf-8").splitlines() if file.exists() else []

    @property
    def sent(self):
        """What the engines were sent."""
        return [line for line in self._log() if not line.startswith("process ")]

    @property
    def processes(self):
        """The process ids of the engines."""
        return [int(line.split()[1]) for line in self._log() if line.startswith("process ")]


@pytest.fixture
def suite(tmp_path):
    return Suite(tmp_path)


@pytest.fixture
def three(suite):
    """Three positions: solved from depth 2 on, missed, and solved by another mate."""
    suite.add(
        f'{ONE} bm g4; id "Pawn.001"; c8 "10 4"; c9 "g2g4 g2g3";',
        [_info(1, "g2g3"), _info(2, "g2g4"), "info depth 3 currmove a1a2", _info(3, "g2g4"), "bestmove g2g4"],
    )
    suite.add(
        f'{TWO} bm b4; id "Pawn.002"; c8 "10 4"; c9 "b2b4 b2b3";',
        [_info(1, "b2b4"), _info(2, "b2b3"), "bestmove b2b3"],
    )
    suite.add(f'{THREE} dm 2; id "Mate.001";', [_info(1, "h1h2", "mate 2"), "bestmove h1h2"])
    return suite


def _run(capsys, arguments):
    return run_command(capsys, *arguments)


def _json(capsys, arguments):
    status, out, _ = _run(capsys, [*arguments, "--json", "-"])
    assert status == 0
    return json.loads(out)


# --- what counts ---------------------------------------------------------------------------------------------------


def test_lines_and_sums(capsys, three):
    assert _run(capsys, three.arguments("--depth", "3")) == (
        0,
        "Pawn.001             wanted g4, played g4 (+10, depth 3): found at depth 2, 0.02 s, 2000 nodes, 10/10 points\n"
        "Pawn.002             wanted b4, played b3 (+10, depth 2): missed, 4/10 points\n"
        "Mate.001             wanted #2, played Rh2 (#+2, depth 1): found at depth 1, 0.01 s, 1000 nodes\n"
        f"{three.file}: 2 of 3 solved (66.7%), 14 of 20 points (70.0%), found after 0.01 s, 1500 nodes on average\n",
        "",
    )


def test_a_suite_comes_from_standard_input(capsys, three, monkeypatch):
    arguments = ["-" if word == str(three.file) else word for word in three.arguments("--depth", "3")]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"broken\n" + three.file.read_bytes())))
    status, out, err = _run(capsys, arguments)
    assert status == 0
    assert "\nstandard input: 2 of 3 solved (66.7%), " in out
    assert err.startswith("knightadder: standard input, line 1: ")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_suite_comes_through_a_pipe(capsys, three):
    arguments = three.arguments("--depth", "3")
    lines = three.file.read_bytes()
    three.file.unlink()
    os.mkfifo(three.file)
    writer = threading.Thread(target=three.file.write_bytes, args=(lines,))
    writer.start()
    status, out, _ = _run(capsys, arguments)
    writer.join()
    assert status == 0
    assert f"\n{three.file}: 2 of 3 solved (66.7%), " in out


def test_messages_leave_standard_output_to_the_json(capsys, three):
    lines = _run(capsys, three.arguments("--depth", "3"))[1]
    status, out, err = _run(capsys, three.arguments("--depth", "3", "--json", "-"))
    assert (status, err) == (0, lines)
    assert json.loads(out)["complete"]


def test_only_the_missed(capsys, three):
    out = _run(capsys, three.arguments("--depth", "3", "--failed"))[1]
    assert [line.split()[0] for line in out.splitlines()] == ["Pawn.002", f"{three.file}:"]
    assert ": 2 of 3 solved" in out


def test_json(capsys, three):
    report = _json(capsys, three.arguments("--nodes", "500", "--hash", "64"))
    [found] = report.pop("suites")
    assert report == {
        "engine": "Scripted 1.0",
        "limit": {"time": None, "nodes": 500, "depth": None},
        "options": {"Hash": "64"},
        "complete": True,
        "complaints": [],
    }
    answers = found.pop("answers")
    assert found == {"file": str(three.file), "positions": 3, "solved": 2, "points": 14, "maximum": 20}
    assert [answer["solved"] for answer in answers] == [True, False, True]
    assert answers[0] == {
        "name": "Pawn.001",
        "fen": f"{ONE} 0 1",
        "wanted": "g4",
        "played": "g4",
        "score": "+10",
        "end": {"depth": 3, "seconds": 0.03, "nodes": 3000},
        "solved": True,
        "found": {"depth": 2, "seconds": 0.02, "nodes": 2000},
        "points": 10,
        "maximum": 10,
    }
    assert answers[1]["found"] is None


def test_json_into_a_file_beside_the_lines(capsys, three, tmp_path):
    file = tmp_path / "out.json"
    out = _run(capsys, three.arguments("--nodes", "500", "--json", str(file)))[1]
    assert out.count("\n") == 4
    assert json.loads(file.read_text("utf-8"))["suites"][0]["solved"] == 2


def test_without_an_answer_the_old_report_stays(capsys, three, tmp_path):
    file = tmp_path / "out.json"
    file.write_text("old")
    for name, content in (("out.json", "old"), ("new.json", None)):
        report = tmp_path / name
        command = three.arguments("--nodes", "500", "--engine", "cmd=no-such-engine", "--json", str(report), "--force")
        assert _run(capsys, command)[0] == 2
        assert (report.read_text() if report.exists() else None) == content


def test_a_report_does_not_overwrite_the_suite(capsys, three):
    command = three.arguments("--nodes", "500", "--json", str(three.file))
    before = three.file.read_bytes()
    status, out, err = _run(capsys, command)
    assert (status, out, err) == (
        2,
        "",
        f"knightadder: --json {three.file}: this file contains the positions, so it is not overwritten\n",
    )
    assert three.file.read_bytes() == before


@pytest.mark.parametrize(
    ("choices", "played", "depth"),
    [
        ("good", "good", 1),
        ("bad good good", "good", 2),
        ("good bad good", "good", 3),
        ("good good bad", "good", 3),  # it changed its mind without a word: at the end
        ("good good", "bad", None),
        ("", "good", 0),
    ],
)
def test_found_when_the_solution_stayed(capsys, suite, choices, played, depth):
    moves = {"good": "g2g4", "bad": "g2g3"}
    infos = [_info(number, moves[choice]) for number, choice in enumerate(choices.split(), 1)]
    suite.add(f"{ONE} bm g4;", [*infos, f"bestmove {moves[played]}"])
    [answer] = _json(capsys, suite.arguments("--depth", "3"))["suites"][0]["answers"]
    assert (answer["found"] and answer["found"]["depth"]) == depth
    assert answer["solved"] is (depth is not None)


def test_only_the_first_of_several_lines_counts(capsys, suite):
    suite.add(f"{ONE} bm g4;", [_info(1, "g2g3"), _info(1, "g2g4", multipv=2), "bestmove g2g3"])
    [answer] = _json(capsys, suite.arguments("--depth", "3"))["suites"][0]["answers"]
    assert (answer["solved"], answer["end"]["depth"]) == (False, 1)


@pytest.mark.parametrize(("score", "told"), [("mate ", "#+100000"), ("mate -", "#-100000"), ("cp ", "+100000")])
def test_numbers_beyond_all_limits_are_limited(capsys, suite, score, told):
    huge = "9" * 20
    suite.add(f"{ONE} bm g4;", [f"info depth {huge} nodes {huge} score {score}{huge} pv g2g4", "bestmove g2g4"])
    [found] = _json(capsys, suite.arguments("--nodes", "5"))["suites"]
    [answer] = found["answers"]
    assert (answer["score"], answer["end"]["depth"], answer["end"]["nodes"]) == (told, 1000, 2**63 - 1)


def test_an_engine_without_a_move_misses(capsys, suite):
    suite.add(f"{ONE} bm g4;", ["bestmove (none)"])
    [answer] = _json(capsys, suite.arguments("--depth", "3"))["suites"][0]["answers"]
    assert (answer["solved"], answer["played"], answer["points"]) == (False, "(none)", 0)


def test_several_suites_are_summed_up(capsys, three, tmp_path):
    other = tmp_path / "other.epd"
    other.write_text(f"{THREE} bm Rh2;\n{TWO} bm b3;\n", encoding="utf-8")
    arguments = three.arguments("--depth", "3", "--failed")
    out = _run(capsys, [arguments[0], str(other), *arguments[1:]])[1]
    assert [line.partition(" solved")[0] for line in out.splitlines()[1:]] == [
        f"{other}: 2 of 2",
        f"{three.file}: 2 of 3",
        "all: 4 of 5",
    ]


def test_the_first_positions_of_each_suite(capsys, three):
    [found] = _json(capsys, three.arguments("--depth", "3", "--limit", "2"))["suites"]
    assert [answer["name"] for answer in found["answers"]] == ["Pawn.001", "Pawn.002"]


# --- what the engine is told ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "go"),
    [
        (["--time", "1.5"], "go movetime 1500"),
        (["--nodes", "700"], "go nodes 700"),
        (["--depth", "9"], "go depth 9"),
    ],
)
def test_the_limit_and_a_new_game_for_each_position(capsys, three, limit, go):
    assert _run(capsys, three.arguments(*limit))[0] == 0
    assert three.sent.count(go) == three.sent.count("ucinewgame") == 3
    assert "setoption" not in "\n".join(three.sent)


def test_options(capsys, three):
    _run(capsys, three.arguments("--depth", "1", "--threads", "2", "--option", "Hash = 32"))
    assert "setoption name Threads value 2" in three.sent
    assert "setoption name Hash value 32" in three.sent


def test_several_engines_share_the_work_and_keep_the_order(capsys, three):
    three.answers[f"{ONE} 0 1"].insert(0, "meet 2")
    out = _run(capsys, three.arguments("--depth", "1", "--concurrency", "2"))[1]
    assert [line.split()[0] for line in out.splitlines()[:3]] == ["Pawn.001", "Pawn.002", "Mate.001"]
    assert three.sent.count("uci") == 2
    assert len([line for line in three.sent if line.startswith("go")]) == 3


# --- what goes wrong -----------------------------------------------------------------------------------------------


def test_a_broken_line_is_named_and_skipped(capsys, three):
    three.lines.insert(1, f"{ONE} bm Qg4;")
    status, out, err = _run(capsys, three.arguments("--depth", "3"))
    assert status == 0
    assert re.fullmatch(rf"knightadder: {re.escape(str(three.file))}, line 2: illegal san: .*\n", err)
    assert ": 2 of 3 solved" in out


def test_nothing_usable_ends_with_status_2(capsys, suite):
    suite.lines = ["nonsense"]
    status, out, err = _run(capsys, suite.arguments("--depth", "3"))
    assert (status, out) == (2, "")
    assert err.splitlines()[1] == f"knightadder: no position to solve in {suite.file}"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--engine", "cmd=no-such-engine"], "no such program: no-such-engine"),
        (["--engine", "cmd="], "the command of an engine is empty"),
        (["--engine", "stockfish", "fast"], "--engine fast: expected KEY=VALUE"),
        (["--engine", "tc=1+1"], "--engine tc=1\\+1: unknown key tc; the keys are cmd, option.NAME"),
        (["--option", "Hash"], "--option Hash: expected NAME=VALUE"),
        (["--option", "Style=wild"], ".*engine does not support option Style.*"),
        (["--json", os.path.join("no", "such", "folder.json")], "cannot write .*"),
    ],
)
def test_bad_arguments_end_with_status_2_and_one_line(capsys, three, more, message):
    status, out, err = _run(capsys, three.arguments("--depth", "3", *more))
    assert (status, out) == (2, "")
    assert re.fullmatch(f"knightadder: {message}\n", err)


def test_an_engine_that_is_none(capsys, three, tmp_path):
    silent = tmp_path / "silent.py"
    silent.write_text("", encoding="utf-8")
    arguments = three.arguments("--depth", "3")
    arguments[3] = f"cmd={sys.executable} {silent}"
    status, out, err = _run(capsys, arguments)
    assert (status, out) == (1, "")
    assert re.fullmatch(r"knightadder: cannot start .*silent.py: engine process died unexpectedly.*\n", err)


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        (["die"], "engine process died unexpectedly"),
        (["bestmove e2e4"], "illegal uci"),
    ],
)
def test_an_engine_that_fails_keeps_what_was_solved_before(capsys, three, answers, reason):
    three.answers[f"{TWO} 0 1"] = answers
    three.lines.append(three.lines.pop(1))
    file = three.folder / "out.json"
    status, out, err = _run(capsys, three.arguments("--depth", "3", "--json", str(file)))
    assert status == 1
    assert re.fullmatch(rf"knightadder: the engine failed on Pawn\.002, .*{reason}.*\n", err)
    assert f"{three.file}: 2 of 2 solved" in out
    report = json.loads(file.read_text("utf-8"))
    assert (report["complete"], report["suites"][0]["positions"]) == (False, 2)


@pytest.fixture
def solve(suite):
    """Give the function that makes a solver of the suite, which works in this process."""
    made = []

    def make(limit=LIMIT):
        suite.arguments()
        problems, _ = read_problems(suite.file)
        solver = Solver(shlex.join(suite.command), {}, limit, problems)
        made.append(pickle.loads(pickle.dumps(solver)))  # as a worker gets it
        return made[-1]

    yield make
    for solver in made:
        solver.close()


def test_an_engine_is_kept_until_it_fails(three, solve):
    three.answers[f"{TWO} 0 1"] = ["die"]
    solver = solve()
    problems, _ = read_problems(three.file)
    for index in (0, 2):
        assert read_answer(solver(index), problems[index])[1].solved
    assert three.sent.count("uci") == 1
    with pytest.raises(EngineError, match=r"^the engine failed on Pawn\.002, .*: engine process died unexpectedly"):
        solver(1)
    assert read_answer(solver(0), problems[0])[0] == "Scripted 1.0"
    assert three.sent.count("uci") == 2


def test_an_engine_that_hangs_is_given_up(three, solve, monkeypatch):
    monkeypatch.setattr(uci_engine, "_LAST_WORD", 0.01)
    three.answers[f"{ONE} 0 1"] = ["hang"]
    solver = solve(chess.engine.Limit(time=0.01))
    solver(1)  # with the usual patience, which is for the start
    monkeypatch.setattr(uci_engine, "PATIENCE", 0.01)
    with pytest.raises(EngineError, match=r"^the engine failed on Pawn\.001, .*: no answer$"):
        solver(0)


@pytest.mark.parametrize(
    "damage",
    [
        {"played": "g2g5"},
        {"played": "no move"},
        {"score": "much"},
        {"score": 12},
        {"end": [1, 2]},
        {"found": [1, 2, "many"]},
        {"engine": None},
    ],
)
def test_an_answer_that_came_damaged(three, solve, damage):
    data = solve()(0)
    problem = read_problems(three.file)[0][0]
    assert read_answer(data, problem)[1].solved
    for damaged in (json.dumps(json.loads(data) | damage).encode(), data[:-1], b"[]", b"\xff"):
        with pytest.raises(EngineError, match=r"^a worker returned a damaged answer to Pawn\.001$"):
            read_answer(damaged, problem)


def alive(process):
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, 0)
        return True
    return False


@pytest.mark.parametrize(("answer", "last"), [("hang", "go depth 1"), ("wait", "quit")])
def test_the_end_of_the_run_ends_the_engine(three, solve, monkeypatch, answer, last):
    monkeypatch.setattr(uci_engine, "_LAST_WORD", 0.01 if answer == "hang" else TIMEOUT)
    three.answers[f"{ONE} 0 1"] = [answer, "bestmove g2g4"]
    solver, failed = solve(), []

    def run():
        try:
            solver(0)
        except concurrent.futures.CancelledError as error:
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    eventually(lambda: "go depth 1" in three.sent)
    solver.close()
    thread.join(TIMEOUT)
    assert len(failed) == 1
    assert three.sent[-1] == last
    assert not any(map(alive, three.processes))
    with pytest.raises(EngineError, match=r"^no more searches: the run has ended$"):
        solver(1)


def test_ctrl_c_keeps_what_was_solved_before(capsys, three, monkeypatch):
    three.answers[f"{TWO} 0 1"] = ["wait", "bestmove b2b4"]

    @contextlib.contextmanager
    def progress(*_, **__):
        def update(done, text):
            eventually(lambda: f"position fen {TWO} 0 1" in three.sent)
            signal.raise_signal(signal.SIGINT)

        yield update

    monkeypatch.setattr(command, "progress", progress)
    file = three.folder / "out.json"
    status, out, _ = _run(capsys, three.arguments("--depth", "3", "--json", str(file)))
    assert status == 130
    assert out.splitlines()[-1].startswith(f"{three.file}: 1 of 1 solved")
    assert json.loads(file.read_text("utf-8"))["complete"] is False
    assert len(three.processes) == 1 and not any(map(alive, three.processes))


# --- many workers --------------------------------------------------------------------------------------------------


def test_different_engines_are_refused(capsys, three, monkeypatch):
    names = iter(["Scripted 1.0", "Scripted 2.0"])
    monkeypatch.setattr(module, "read_answer", lambda *given: (next(names), read_answer(*given)[1]))
    status, _, err = _run(capsys, three.arguments("--depth", "3"))
    assert (status, err) == (2, "knightadder: the workers have different engines: Scripted 1.0 and Scripted 2.0\n")


# --- pieces --------------------------------------------------------------------------------------------------------


def test_themes_are_summed_up(capsys, suite):
    for theme in ("Undermine", "Open Files"):
        for number in range(5):
            suite.add(f'{ONE} bm g4; id "{theme}.{number}";', [_info(1, "g2g4"), "bestmove g2g4"])
    out = _run(capsys, suite.arguments("--depth", "3", "--failed"))[1]
    assert [line.partition(" solved")[0] for line in out.splitlines()] == [
        "Undermine: 5 of 5",
        "Open Files: 5 of 5",
        f"{suite.file}: 10 of 10",
    ]


def test_a_table_on_a_terminal(capsys, three, monkeypatch):
    use_terminal(monkeypatch, 140)
    status, out, _ = _run(capsys, three.arguments("--depth", "3"))
    rows = [re.split(r" *[│┃] *", line) for line in plain(out).splitlines()]
    assert status == 0
    assert ["", "Pawn.001", "g4", "g4", "+10", "3", "2", "0.02", "2000", "10/10", ""] in rows
    assert ["", "Pawn.002", "b4", "b3", "+10", "2", "missed", "", "", "4/10", ""] in rows
    assert out.splitlines()[-1].startswith(f"{three.file}: 2 of 3 solved")


# --- the real engine -----------------------------------------------------------------------------------------------


def test_the_engine_itself_solves_mates(capsys):
    arguments = ["suite", str(DATA / "mate-in-1.epd"), str(DATA / "mate-in-2.epd"), "--nodes", "200000", "--limit", "5"]
    report = _json(capsys, [*arguments, "--concurrency", "2"])
    assert report["engine"].startswith("Knightadder")
    assert [found["solved"] for found in report["suites"]] == [5, 5]


def test_a_position_that_the_engine_refuses_costs_only_its_line(capsys, tmp_path):
    file = tmp_path / "suite.epd"
    file.write_text("4k3/8/8/8/8/8/PPPPPPPP/1QQ1K3 w - - bm e4;\nk7/7R/1K6/8/8/8/8/8 w - - bm Rh8;\n", encoding="utf-8")
    status, out, err = _run(capsys, ["suite", str(file), "--depth", "2", "--concurrency", "1"])
    assert (status, err) == (0, f"knightadder: {file}, line 1: White has more pieces than promotions allow\n")
    assert out.splitlines()[-1].startswith(f"{file}: 1 of 1 solved")
