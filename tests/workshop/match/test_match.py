"""The command: whole matches of fake engines, going on after an interruption, and bad arguments."""

import itertools
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import chess.pgn
import pytest
from command_line import run_command, use_terminal

from knightadder import cli
from knightadder.extras import install_command
from knightadder.uci.client import UciClient
from knightadder.workshop.match import player
from knightadder.workshop.match.command import Match
from knightadder.workshop.match.journal import MatchLog
from knightadder.workshop.match.standings import Standings

pytestmark = pytest.mark.usefixtures("inline_pool")


def _run(capsys, *arguments):
    return run_command(capsys, "match", *arguments)


@pytest.fixture
def engine(fake_command):
    """Give the function that writes the arguments of a fake engine."""

    def write(name, *words):
        return ["--engine", f"name={name}", f"cmd={shlex.join(fake_command(*words))}"]

    return write


@pytest.fixture
def two(engine):
    """Give the arguments of a short match of two engines."""
    return [*engine("A", "seed=1"), *engine("B", "seed=2"), "--each", "nodes=1", "--max-moves", "7"]


def _log(file):
    """Give the games of a log."""
    return [json.loads(line) for line in file.read_text().splitlines()[1:]]


def _fixtures(file):
    return [tuple(record["fixture"].values()) for record in _log(file)]


def test_a_match_plays_each_opening_with_both_colours(capsys, tmp_path, two):
    log, pgn = tmp_path / "m.jsonl", tmp_path / "m.pgn"
    status, out, err = _run(capsys, *two, "--games", "6", "--state", str(log), "--pgn", str(pgn), "--interval", "4")
    assert (status, err) == (0, "")
    assert _fixtures(log) == [(n, *names) for n in range(3) for names in (("A", "B"), ("B", "A"))]
    lines = out.splitlines()
    assert lines[0].startswith("4/6  A against B: ")
    assert re.search(r"^A against B\n +\n +Games +6, ", out, re.MULTILINE)
    assert lines[-1].startswith("| ")
    games = []
    with pgn.open() as stream:
        while game := chess.pgn.read_game(stream):
            assert not game.errors
            games.append(game)
    assert [(game.headers["White"], game.headers["Black"]) for game in games] == [("A", "B"), ("B", "A")] * 3
    openings = [tuple(n.move.uci() for n in game.mainline() if n.comment == "book") for game in games]
    assert openings[0::2] == openings[1::2]
    assert len(set(openings)) == 3


def test_clocks_that_count_nodes_play_the_same_games_again(capsys, tmp_path):
    words = ["--engine", "name=A", "--engine", "name=B", "--each", "tc=0.05+0.005", "option.nodestime=20", "margin=1"]
    played = []
    for pgn in (tmp_path / "1.pgn", tmp_path / "2.pgn"):
        status, _, err = _run(capsys, *words, "--games", "2", "--max-moves", "30", "--pgn", str(pgn))
        assert (status, err) == (0, "")  # no flag has fallen, and there is no warning
        with pgn.open() as stream:
            games = list(iter(lambda: chess.pgn.read_game(stream), None))
        played.append([[move.uci() for move in game.mainline_moves()] for game in games])
    assert len(played[0]) == 2 and played[0] == played[1]


def test_a_clock_counts_nodes_only_if_the_engine_does(capsys, engine):
    limits = ["--each", "tc=9", "option.nodestime=20"]
    status, _, err = _run(capsys, *engine("A"), *engine("B"), *limits, "--games", "2")
    assert (status, err.count("\n")) == (2, 1) and "nodestime" in err


def test_a_round_robin_rates_all_engines(capsys, tmp_path, engine):
    log = tmp_path / "m.jsonl"
    engines = [word for name in "ABC" for word in engine(name)]
    status, out, _ = _run(
        capsys,
        *engines,
        "--each",
        "depth=1",
        "--max-moves",
        "2",
        "--rounds",
        "2",
        "--concurrency",
        "3",
        "--state",
        str(log),
    )
    assert status == 0
    assert Counter(frozenset(names) for _, *names in _fixtures(log)) == {
        frozenset(pair): 4 for pair in ("AB", "AC", "BC")
    }
    assert len(set(_fixtures(log))) == 12
    assert re.search(r"^ +1 +[ABC] ", out, re.MULTILINE)


def test_a_gauntlet_is_the_first_against_the_others(capsys, tmp_path, engine):
    file = tmp_path / "engines.toml"
    [_, _, command] = engine("x")
    file.write_text("".join(f"[[engine]]\nname = '{name}'\ncmd = {json.dumps(command[4:])}\n" for name in "BC"))
    log = tmp_path / "m.jsonl"
    arguments = [*engine("A"), "--engines", str(file), "--gauntlet", "--each", "nodes=1", "--max-moves", "7"]
    status, out, _ = _run(capsys, *arguments, "--games", "2", "--state", str(log))
    assert status == 0
    assert [names for _, *names in _fixtures(log)] == [["A", "B"], ["B", "A"], ["A", "C"], ["C", "A"]]
    rows = [line.split(" | ") for line in out.splitlines() if line.startswith("| 2")]
    assert [(row[1], row[4]) for row in rows] == [("A", "B"), ("A", "C")]


@pytest.mark.parametrize(("guilty", "status"), [("A", 1), ("B", 0)])
def test_faults_are_counted_and_the_engine_is_started_again(capsys, tmp_path, engine, guilty, status):
    log = tmp_path / "m.jsonl"
    # Each process crashes at its fourth move.
    engines = [word for name in "AB" for word in engine(name, *(["do=crash", "at=4"] if name == guilty else []))]
    arguments = [*engines, "--each", "nodes=1", "--games", "6", "--state", str(log)]
    arguments += ["--openings", "plies=2", "--max-moves", "4"]  # three moves for each
    found, out, _ = _run(capsys, *arguments)
    assert found == status
    assert [record["culprit"] for record in _log(log)] == [None, guilty] * 3
    assert re.search(rf"^ +{guilty} +3 crash ", out, re.MULTILINE)
    assert "Oops: broken" in out


def test_a_match_is_played_on_pinned_processors(capsys, tmp_path, two):
    log = tmp_path / "m.jsonl"
    status, _, err = _run(capsys, *two, "--games", "4", "--affinity", "--state", str(log))
    if hasattr(os, "sched_setaffinity"):
        assert (status, err, len(_log(log))) == (0, "", 4)
    else:
        assert (status, err) == (2, "knightadder: --affinity: this system cannot pin a process to processors\n")


def test_every_line_of_uci_is_in_the_trace(capsys, tmp_path, engine):
    folder = tmp_path / "a" / "traces"
    engines = [*engine("A 1"), *engine("B", "do=crash", "at=4")]  # each process of B crashes at its fourth move
    arguments = [*engines, "--each", "nodes=1", "--games", "2", "--openings", "plies=2", "--max-moves", "4"]
    status, out, _ = _run(capsys, *arguments, "--log-engine", str(folder))
    assert status == 0
    assert "B: Black loses by fault (crash)" in out or "B: White loses by fault (crash)" in out

    line = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6} ([><#])(A 1|B): (.*)")
    traces = {
        file: [line.fullmatch(text).groups() for text in file.read_text().splitlines()] for file in folder.iterdir()
    }
    names = sorted(re.sub(r"\d+", "N", file.name) for file in folder.iterdir())
    assert names == ["A_N-N.log", "A_N-N.log", "B-N.log", "B-N.log"]  # a trial start of each, and one for the match
    whole = []
    for lines in traces.values():
        assert len({name for _, name, _ in lines}) == 1
        talk = [(direction, text) for direction, _, text in lines]
        assert talk[:2] == [(">", "uci"), ("<", "id name Fake 1.0")]
        sent = [text.split()[0] for direction, text in talk if direction == ">"]
        answers = [text.split()[0] for direction, text in talk if direction == "<"]
        assert sent.count("isready") == answers.count("readyok")
        crashed = any(text.startswith("the engine ended with status 3: Oops") for _, text in talk)
        assert sent.count("go") == answers.count("bestmove") + crashed
        whole += [(name, direction, text) for direction, name, text in lines]
    assert whole.count(("A 1", "#", "round 1, A 1 - B")) == whole.count(("B", "#", "round 1, A 1 - B")) == 1
    assert any(name == "A 1" and text.startswith("go nodes 1") for name, _, text in whole)
    crash = [text for name, _, text in whole if name == "B" and "loses by fault" in text]
    assert len(crash) == 1 and crash[0].endswith("the engine ended with status 3: Oops: broken")


def test_warnings_are_shown_once_and_counted(capsys, engine):
    arguments = [*engine("A", "pv=a1a8"), *engine("B"), "--each", "nodes=1", "--max-moves", "7", "--games", "4"]
    status, out, _ = _run(capsys, *arguments)
    assert status == 0
    assert (
        len(re.findall(r"^round \d+, . - .: A: illegal PV move at move \d+: a1a8, move 1 of its PV$", out, re.M)) == 1
    )
    assert "position fen" not in out
    assert re.search(
        r"^ +A +0 +\d+ best move is not the first move of the last PV, \d+ illegal PV move ", out, re.MULTILINE
    )


def test_the_test_stops_when_it_is_decided(capsys, tmp_path, engine):
    log = tmp_path / "m.jsonl"
    arguments = [
        *engine("A"),
        *engine("B", "do=illegal", "at=every"),
        "--each",
        "nodes=1",
        "--sprt",
        "elo0=0",
        "elo1=200",
    ]
    status, out, _ = _run(capsys, *arguments, "--state", str(log), "--max-moves", "9")
    assert status == 0
    assert "The test [0, 200] passed." in out
    assert out.splitlines()[-1].endswith("| passed |")
    played = len(_log(log))
    assert 2 <= played < 100
    # Once decided, it is decided.
    again = _run(capsys, *arguments, "--state", str(log), "--max-moves", "9")
    assert again[1].splitlines()[-1] == out.splitlines()[-1]
    assert len(_log(log)) == played


@pytest.mark.parametrize(
    ("words", "total"),
    [
        (["--games", "100000"], 100_000),
        (["--games", "800", "--sprt"], 800),
        (["--games", "100000", "--sprt", "--each", "tc=1"], 100_000),
        (["--rounds", "50000"], 100_000),
        (["--games", "100000", "--each", "tc=1"], 100_000),
        (["--sprt"], 800),  # without a clock, each opening once
        (["--sprt", "--each", "tc=1"], None),
    ],
)
def test_the_number_of_games_is_as_given_or_left_to_the_test(two, words, total):
    match = Match(cli.build_parser().parse_args(["match", *two, *words]))
    assert match.total == total
    last = 100_000 if total is None else total - 1
    assert next(itertools.islice(match.fixtures(), last, None)).round == last // 2
    assert total is None or next(itertools.islice(match.fixtures(), total, None), None) is None


@pytest.fixture
def interrupt_game(monkeypatch):
    """Press Ctrl-C in the middle of a game, once the results of all games before it are counted."""

    def interrupt(number):
        counted, aborted, begun = threading.Semaphore(0), threading.Event(), itertools.count(1)
        add, close, play = Standings.add, player.GamePlayer.close, player.play_game

        def count(self, record):
            add(self, record)
            counted.release()

        def play_game(*arguments):
            if next(begun) == number:
                assert all(counted.acquire(timeout=60) for _ in range(number - 1))
                os.kill(os.getpid(), signal.SIGINT)
                assert aborted.wait(60)
            return play(*arguments)

        monkeypatch.setattr(Standings, "add", count)
        monkeypatch.setattr(player, "play_game", play_game)
        monkeypatch.setattr(player.GamePlayer, "close", lambda self: (close(self), aborted.set()))

    return interrupt


def test_a_match_goes_on_from_its_log(capsys, tmp_path, two, interrupt_game, monkeypatch):
    log, whole = tmp_path / "m.jsonl", tmp_path / "whole.jsonl"
    _run(capsys, *two, "--games", "6", "--state", str(whole))

    interrupt_game(4)
    status, out, err = _run(capsys, *two, "--games", "6", "--state", str(log))
    assert status == 130
    assert re.search(r"^ +Games +3, ", out, re.MULTILINE)
    assert "continues from there" in err
    assert _log(log) == _log(whole)[:3]

    monkeypatch.undo()
    assert _run(capsys, *two, "--games", "6", "--state", str(log))[0] == 0
    # The engines were started anew, so their choices differ from those of a whole match, but not the games to play.
    assert _fixtures(log) == _fixtures(whole)
    assert _run(capsys, *two, "--games", "8", "--state", str(log))[0] == 0
    assert len(_log(log)) == 8


def test_a_game_that_only_the_pgn_file_has_is_replaced(capsys, tmp_path, two):
    """A process was killed after it had written a game there, and before it wrote it into the log."""
    log, pgn = tmp_path / "m.jsonl", tmp_path / "m.pgn"
    arguments = [*two, "--games", "4", "--state", str(log), "--pgn", str(pgn)]
    pgn.write_text('[Event "mine"]\n\n*\n\n')
    assert _run(capsys, *arguments)[0] == 0
    log.write_text("".join(log.read_text().splitlines(keepends=True)[:-1]))
    assert _run(capsys, *arguments)[0] == 0
    assert len(_log(log)) == 4
    assert pgn.read_text().count("[Event ") == 5
    assert pgn.read_text().startswith('[Event "mine"]')


def test_ctrl_c_after_a_game_was_logged_leaves_it_in_the_pgn_file(capsys, tmp_path, two, monkeypatch):
    log, pgn = tmp_path / "m.jsonl", tmp_path / "m.pgn"
    arguments = [*two, "--games", "4", "--state", str(log), "--pgn", str(pgn)]
    add = MatchLog.add_game

    def add_and_interrupt(self, *game):
        add(self, *game)
        if len(self.records) == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(MatchLog, "add_game", add_and_interrupt)
        assert _run(capsys, *arguments)[0] == 130
    assert (len(_log(log)), pgn.read_text().count("[Event ")) == (2, 2)
    assert _run(capsys, *arguments)[::2] == (0, "")
    assert (len(_log(log)), pgn.read_text().count("[Event ")) == (4, 4)


def test_a_match_that_begins_again_keeps_the_games_of_the_pgn_file(capsys, tmp_path, two):
    log, pgn = tmp_path / "m.jsonl", tmp_path / "m.pgn"
    arguments = [*two, "--games", "2", "--state", str(log), "--pgn", str(pgn)]
    assert _run(capsys, *arguments)[0] == 0
    assert _run(capsys, *arguments, "--restart")[0] == 0
    assert len(_log(log)) == 2
    assert pgn.read_text().count("[Event ") == 4


def test_a_match_does_not_go_on_with_a_changed_engine(capsys, tmp_path, fake_command, two):
    log, script = tmp_path / "m.jsonl", tmp_path / "fake.py"
    program, source, *words = fake_command("seed=2")
    script.write_text(Path(source).read_text())
    two[5] = f"cmd={shlex.join([program, str(script), *words])}"
    arguments = [*two, "--state", str(log), "--games"]
    assert _run(capsys, *arguments, "2")[0] == 0
    before = log.read_text()
    script.write_text(f"{script.read_text()}\n# changed\n")
    status, out, err = _run(capsys, *arguments, "4")
    assert (status, out) == (2, "")
    assert err == (
        f"knightadder: {log} belongs to a run with other settings (sources of the engines): "
        "use the same, or give --restart to forget it\n"
    )
    assert log.read_text() == before


def test_a_match_does_not_go_on_with_an_engine_of_another_name(capsys, tmp_path, fake_command, two):
    """A wrapper may start another version, which its own text does not tell."""
    log, inner, wrapper = tmp_path / "m.jsonl", tmp_path / "fake.py", tmp_path / "wrapper.py"
    program, source, *_ = fake_command()
    inner.write_text(Path(source).read_text())
    wrapper.write_text(f"import os, sys; os.execv({program!r}, [{program!r}, {str(inner)!r}])")
    two[5] = f"cmd={shlex.join([program, str(wrapper)])}"
    arguments = [*two, "--state", str(log), "--games"]
    assert _run(capsys, *arguments, "2")[0] == 0
    inner.write_text(inner.read_text().replace("Fake 1.0", "Fake 2.0"))
    status, _, err = _run(capsys, *arguments, "4")
    assert status == 2
    assert (
        "knightadder: B was Fake 1.0 and is now Fake 2.0: use the same version, or give --restart to forget it\n" in err
    )
    assert len(_log(log)) == 2


@pytest.fixture
def small_disk():
    """Give the function that limits how large files may become, as a full disk does; it ends with the test."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("full", ["m.pgn", "m.jsonl"])
def test_on_a_full_disk_all_files_stay_whole(capsys, tmp_path, two, small_disk, full):
    log, pgn = tmp_path / "m.jsonl", tmp_path / "m.pgn"
    arguments = [*two, "--state", str(log), *(["--pgn", str(pgn)] if full == "m.pgn" else []), "--games"]
    assert _run(capsys, *arguments, "4")[0] == 0
    size = (tmp_path / full).stat().st_size
    small_disk(size + 50)
    status, out, err = _run(capsys, *arguments, "6")
    assert status == 2
    assert re.search(r"^ +Games +4, ", out, re.MULTILINE)
    assert err == (
        f"The games so far are in {log}; the same command continues from there\n"
        f"knightadder: cannot write {tmp_path / full}: File too large\n"
    )
    assert len(_log(log)) == 4
    assert (tmp_path / full).stat().st_size == size
    small_disk(-1)
    assert _run(capsys, *arguments, "6")[0] == 0
    assert len(_log(log)) == 6
    assert full != "m.pgn" or pgn.read_text().count("[Event ") == 6


def test_an_engine_that_cannot_start_ends_the_match_before_it_begins(capsys, engine, tmp_path):
    broken = ["--engine", "name=B", f"cmd={sys.executable} -V"]
    output = ["--pgn", str(tmp_path / "games.pgn")]
    status, out, err = _run(capsys, *engine("A"), *broken, "--each", "nodes=1", "--games", "2", *output)
    assert (status, out) == (1, "")
    assert re.fullmatch(r"knightadder: B: the engine ended with status 0.*\n", err)


def test_patience_at_the_start_is_five_times_as_long(capsys, engine, monkeypatch):
    real = UciClient.read_until
    monkeypatch.setattr(UciClient, "read_until", lambda self, prefix, timeout: real(self, prefix, timeout / 100))
    silent = ["--engine", "name=B", f"cmd={shlex.join([sys.executable, '-c', 'input(); input()'])}"]
    match = [*silent, *engine("A"), "--each", "nodes=1", "--games", "2", "--patience", "2"]
    assert _run(capsys, *match) == (1, "", "knightadder: B: no uciok within 0.1 s\n")


_FAILING = """\
import sys
from pathlib import Path
starts, repaired = Path({starts!r}), Path({repaired!r})
starts.write_text(starts.read_text() + "x")
if len(starts.read_text()) > 2 and not repaired.exists():
    sys.exit("no licence")
"""


def test_an_engine_that_does_not_start_again_is_left_out(capsys, tmp_path, engine, fake_command):
    log, starts, repaired, script = (tmp_path / name for name in ("m.jsonl", "starts", "repaired", "fake.py"))
    program, source, *_ = fake_command()
    # It starts twice, to be tried out and to play, and crashes at its seventh move, in its third game.
    script.write_text(_FAILING.format(starts=str(starts), repaired=str(repaired)) + Path(source).read_text())
    starts.touch()
    broken = ["--engine", "name=C", f"cmd={shlex.join([program, str(script), 'do=crash', 'at=7'])}"]
    arguments = [*engine("A"), *engine("B"), *broken, "--each", "nodes=1", "--max-moves", "3", "--openings", "plies=1"]
    arguments += ["--games", "4", "--state", str(log)]
    status, out, err = _run(capsys, *arguments)
    assert status == 1
    assert err == (
        "knightadder: C: the engine ended with status 1: no licence: the games of this engine are left out\n"
        f"The games so far are in {log}; the same command continues from there\n"
        "knightadder: C could not be started, so some games could not be played\n"
    )
    assert re.search(r"^ +A - B +4 ", out, re.MULTILINE)
    assert Counter(record["culprit"] for record in _log(log)) == {None: 6, "C": 1}
    assert {(0, "A", "C"), (0, "C", "A"), (0, "B", "C")} < set(_fixtures(log))
    fewer = [{"4": "2"}.get(word, word) for word in arguments]  # of which one is missing, though seven are played
    assert _run(capsys, *fewer)[0] == 1

    repaired.touch()
    assert _run(capsys, *arguments)[::2] == (0, "")
    assert len(set(_fixtures(log))) == len(_log(log)) == 12


def test_a_test_ends_if_an_engine_does_not_start_again(capsys, tmp_path, engine, fake_command):
    starts, script = tmp_path / "starts", tmp_path / "fake.py"
    program, source, *_ = fake_command()
    script.write_text(_FAILING.format(starts=str(starts), repaired=str(tmp_path / "never")) + Path(source).read_text())
    starts.touch()
    broken = ["--engine", "name=B", f"cmd={shlex.join([program, str(script), 'do=crash', 'at=7'])}"]
    arguments = [*engine("A"), *broken, "--each", "st=60", "--max-moves", "3", "--openings", "plies=1", "--sprt"]
    status, out, err = _run(capsys, *arguments)
    assert (status, err.splitlines()[-1]) == (
        1,
        "knightadder: B could not be started, so some games could not be played",
    )
    assert "The test [0, 5] is not decided." in out


def test_what_an_engine_says_about_its_options_is_shown_once(capsys, engine):
    arguments = [*engine("A", "complaint=cannot_read_x.nnue"), "option.Hash=2", *engine("B")]
    arguments += ["--each", "nodes=1", "--max-moves", "3", "--games", "4"]
    assert _run(capsys, *arguments)[::2] == (0, "knightadder: A: cannot_read_x.nnue\n")


def test_chess960_from_all_start_positions(capsys, tmp_path, two):
    pgn = tmp_path / "m.pgn"
    assert _run(capsys, *two, "--games", "2", "--chess960", "--pgn", str(pgn))[0] == 0
    with pgn.open() as stream:
        assert chess.pgn.read_game(stream).headers["Variant"] == "Chess960"


def test_on_a_terminal_a_table_is_kept_up_to_date(capsys, two, monkeypatch):
    use_terminal(monkeypatch, 160)
    status, out, _ = _run(capsys, *two, "--games", "4")
    assert status == 0
    assert "0 of 4 games, N=1, built-in; Ctrl-C interrupts" in out
    assert "4 of 4 games" in out
    assert "4/4" not in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "nothing says when the match ends: give --games, --rounds or --sprt"),
        (["--games", "3"], "--games 3: expected an even number"),
        (
            ["--games", "2", "--only", "X"],
            "--only chooses engines of the file that --engines names: also give --engines",
        ),
        (["--sprt", "elo=0"], "unknown key elo"),
        (["--sprt", "elo0=5", "elo1=0"], "elo0 must be less than elo1, but 5 is not less than 0"),
        (["--sprt", "elo1=201"], "expected 200 or less"),
        (["--sprt", "alpha=0"], "alpha and beta"),
        (["--sprt", "beta=0.7"], "alpha and beta"),
        (["--sprt", "model=x"], "model=x: expected normalized or logistic"),
        (["--games", "802", "--sprt"], "built-in has only 400 openings, enough for 800 games: without a clock"),
        (["--games", "2", "--draw", "movecount=0"], "movecount=0: expected 1 or more"),
        (["--games", "2", "--resign", "twosided=maybe"], "twosided=maybe: expected true or false"),
        (["--games", "2", "--openings", "file=missing.epd"], "cannot read missing.epd"),
        (["--games", "2", "--state", "no/such/folder"], "cannot use no"),
        (["--games", "2", "--pgn", "no/such/folder"], "cannot use no"),
        (["--games", "2", "--log-engine", "x"], "cannot use x: it is not a folder\n"),
        (["--games", "2", "--log-engine", "x/y"], "cannot use x"),
        (["--games", "2", "--log-engine", "x", "--cluster", "local:1"], "--log-engine does not work with --cluster"),
        (["--games", "2", "--affinity", "--cluster", "local:1"], "--affinity does not work with --cluster"),
        (["--games", "2", "--affinity", "--concurrency", "99999"], "--affinity: "),
        (["--games", "2", "--reference-nps", "1000"], "--reference-nps needs --cluster"),
    ],
)
def test_bad_arguments_are_one_line(capsys, two, arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("x").touch()
    status, out, err = _run(capsys, *two, *arguments)
    assert (status, out) == (2, "")
    assert err.startswith("knightadder: ")
    assert message in err
    assert err.count("\n") == 1


def test_common_options_are_left_out_where_they_do_not_exist(capsys, two):
    each = two.index("--each") + 1
    two[each:each] = ["option.Threads=1", "option.Hash=2"]
    status, _, err = _run(capsys, *two, "--games", "2")
    expected = "knightadder: {} has no option Threads, so this option of --each is left out\n"
    assert (status, err) == (0, expected.format("A") + expected.format("B"))


def test_a_wrong_value_of_an_option_is_one_line(capsys, two):
    each = two.index("--each") + 1
    two[each:each] = ["option.Hash=0"]
    status, out, err = _run(capsys, *two, "--games", "2")
    assert (status, out, err) == (2, "", "knightadder: A: option Hash: 0 is not between 1 and 1024\n")


def test_three_engines_have_no_sequential_test(capsys, two, engine):
    status, _, err = _run(capsys, *two, *engine("C"), "--sprt")
    assert (status, err) == (2, "knightadder: --sprt compares two engines, not 3\n")


def test_openings_are_not_played_again_unnoticed(capsys, tmp_path, two):
    book, log = tmp_path / "book.epd", tmp_path / "m.jsonl"
    book.write_text("rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2\n4k3/8/8/8/8/8/4P3/4K3 w - - 0 5\n")
    arguments = [*two, "--openings", f"file={book}"]
    status, _, err = _run(capsys, *arguments, "--games", "6")
    assert (status, err) == (0, "knightadder: book has only 2 openings, so they are repeated\n")
    # Without a clock nothing new can come of them, so a test ends undecided.
    status, out, err = _run(capsys, *arguments, "--sprt", "elo1=0.5", "--state", str(log))
    assert (status, err) == (0, "")
    assert "is not decided" in out
    assert len(_log(log)) == 4


def test_a_bad_opening_is_found_before_the_first_game(capsys, tmp_path, two):
    book = tmp_path / "book.epd"
    book.write_text("rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq -\n8/8/8 w - -\n")
    log = tmp_path / "m.jsonl"
    status, _, err = _run(capsys, *two, "--games", "6", "--openings", f"file={book}", "--state", str(log))
    assert status == 2
    assert f"knightadder: {book}, line 2: " in err
    assert not log.exists()


def _without_scipy(*arguments):
    """Run the command in a process that has no SciPy."""
    code = "import sys; sys.modules['scipy'] = None; from knightadder.cli import main; sys.exit(main(sys.argv[1:]))"
    return subprocess.run(
        [sys.executable, "-c", code, "match", *arguments], capture_output=True, text=True, timeout=200
    )


def test_without_scipy_only_errors_and_ratings_are_left_out(tmp_path, two, engine):
    log, command = tmp_path / "m.jsonl", install_command("workshop")
    arguments = [*two, "--games", "4", "--state", str(log), "--interval", "4"]
    done = _without_scipy(*arguments)
    assert done.returncode == 0
    assert done.stderr == (f"knightadder: SciPy is not installed, so Elo errors and ratings are left out: {command}\n")
    assert len(_log(log)) == 4
    assert re.search(r"^4/4 .* Elo [+-]\d+\.\d  LOS \d", done.stdout, re.MULTILINE)
    assert re.search(r"Elo +[+-]\d+\.\d, normalized", done.stdout)
    assert re.search(r"\| \d-\d-\d \| [+-]\d+\.\d \[unknown\] \|", done.stdout)

    more = [*two, *engine("C"), "--games", "2"]
    done = _without_scipy(*more)
    assert done.returncode == 0
    assert "Pairing" in done.stdout
    assert "Rank" not in done.stdout

    refused = _without_scipy(*two, "--sprt", "elo1=5")
    assert refused.returncode == 2
    assert refused.stderr == f"knightadder: --sprt needs SciPy: {command}\n"
