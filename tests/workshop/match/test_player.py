"""Games that workers play: engines kept from game to game, what does not start, speeds, and workers that are killed."""

import json
import os
import re
import shlex
import signal
import sys
from concurrent.futures import ThreadPoolExecutor

import chess.pgn
import psutil
import pytest
from distributed import Client
from local_cluster import commands, local_cluster
from waiting import eventually

from knightadder import cli
from knightadder.engine.errors import EngineError
from knightadder.parallel.executor import open_pool
from knightadder.workshop.match import player as module
from knightadder.workshop.match.competitors import Competitor
from knightadder.workshop.match.journal import Fixture
from knightadder.workshop.match.player import GamePlayer, Outcome, sources_of
from knightadder.workshop.match.referee import Rules
from knightadder.workshop.match.speed import REFERENCE, Speed
from knightadder.workshop.match.standings import Standings
from knightadder.workshop.match.time_control import Allowance, TimeControl
from knightadder.workshop.opening_book import BookLine

FIXTURE = Fixture(0, "A", "B")
RULES = Rules(max_moves=3)
NAME = "Fake 1.0"


def engines_of(folder):
    """Give the engines that a test has marked with its folder."""
    mark = f"mark={folder}"
    return [process.pid for process in psutil.process_iter(["cmdline"]) if mark in (process.info["cmdline"] or ())]


# --- one worker ----------------------------------------------------------------------------------------------------


@pytest.fixture
def play(fake_command):
    """Give the function that makes a player of engines A, B and C, with the arguments of the fake engines by name."""
    players = []

    def make(
        words=(), allowance=None, sources=None, reference=None, versions=(), folder=None, affinity=None, **changed
    ):
        competitors = {
            name: Competitor(
                name, tuple(fake_command(*dict(words).get(name, ()))), allowance=allowance or Allowance(nodes=1)
            )
            for name in "ABC"
        } | changed
        known = dict.fromkeys("ABC", NAME) | dict(versions)
        players.append(GamePlayer(competitors, known, RULES, sources, reference, folder, affinity))

        def play(fixture=FIXTURE):
            return Outcome.read(players[-1]((fixture, BookLine())), fixture)

        play.player = players[-1]
        return play

    yield make
    for player in players:
        player.close()


def test_an_engine_that_does_not_start_is_tried_once(play, tmp_path):
    mark = tmp_path / "starts"
    code = f"open({str(mark)!r}, 'a').write('x')"
    game = play(B=Competitor("B", (sys.executable, "-c", code)))
    for fixture in (FIXTURE, Fixture(3, "B", "C")):
        outcome = game(fixture)
        assert (outcome.record, outcome.absent) == (None, "B")
        assert outcome.error.startswith("B: the engine ended with status 0")
    assert mark.read_text() == "x"
    assert game(Fixture(4, "C", "A")).record.fixture == Fixture(4, "C", "A")


def test_on_another_machine_an_engine_has_to_be_the_same(play, monkeypatch, tmp_path):
    monkeypatch.setattr(module.platform, "node", lambda: "desktop")
    missing = Competitor("B", ("/nowhere/engine-of-b", "--uci"))
    assert play(B=missing, sources={})().error == "B: no such program: engine-of-b on desktop"
    assert (
        play({"A": [f"mark={tmp_path}"]}, versions={"A": "Fake 0.9"}, sources={})().error
        == "A reported the name Fake 0.9 before, but now Fake 1.0 on desktop"
    )
    assert engines_of(tmp_path) == []
    assert (
        play(sources={"A": "another digest"})().error
        == "A has different sources on desktop: all machines need the same version"
    )
    assert play(sources={})().record is not None


def test_the_program_of_an_engine_may_be_in_another_place(play, fake_command, monkeypatch, tmp_path):
    program = tmp_path / "engine-of-b"
    program.write_text(f'#!/bin/sh\nexec {shlex.join(fake_command())} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    elsewhere = Competitor("B", ("/nowhere/engine-of-b", "seed=2"))
    assert play(B=elsewhere)().record is not None


def test_the_sources_of_knightadder_count():
    own = Competitor("A", (sys.executable, "-m", "knightadder"), own=True)
    assert re.fullmatch(r"[0-9a-f]{16}", sources_of({"A": own, "B": Competitor("B", ("stockfish",))})["A"])
    assert sources_of({"A": own, "B": Competitor("B", ("stockfish",))}).keys() == {"A"}


def test_a_player_that_is_closed_aborts_its_game(play, monkeypatch):
    game = play({"B": ("do=silent",)})
    send = module.UciClient.send

    def close_then(client, *lines):
        send(client, *lines)
        if lines[-1].startswith("go") and client is game.player._clients["B"]:
            game.player.close()

    monkeypatch.setattr(module.UciClient, "send", close_then)
    with pytest.raises(EngineError, match=r"^no more games: the run has ended$"):
        game()
    assert not any(client.running for client in game.player._clients.values())
    with pytest.raises(EngineError, match=r"^no more games: the run has ended$"):
        game(Fixture(1, "A", "C"))


def test_a_player_that_is_closed_ends_an_engine_that_is_starting(play, tmp_path):
    code = "import sys, time; time.sleep(3600)"
    game = play(B=Competitor("B", (sys.executable, "-c", code, f"mark={tmp_path}")))
    with ThreadPoolExecutor() as threads:
        playing = threads.submit(game)
        eventually(lambda: engines_of(tmp_path))
        game.player.close()
        eventually(lambda: not engines_of(tmp_path))
        with pytest.raises(EngineError, match=r"^no more games: the run has ended$"):
            playing.result()


@pytest.mark.parametrize(
    "data", [b"", b"{}", b"5", b"null", None, b'{"record":5,"pgn":"","absent":"","error":"","notes":[]}']
)
def test_what_is_no_outcome_is_refused(data):
    with pytest.raises(EngineError, match=r"^a worker returned a damaged game: round 1, A - B$"):
        Outcome.read(data, FIXTURE)


def test_the_outcome_of_another_game_is_refused(play):
    data = play().player((FIXTURE, BookLine()))
    assert Outcome.read(data, FIXTURE).record.fixture == FIXTURE
    with pytest.raises(EngineError, match=r"^a worker returned a damaged game: round 2, B - A$"):
        Outcome.read(data, Fixture(1, "B", "A"))


# --- fair clocks ---------------------------------------------------------------------------------------------------


def test_limits_of_time_are_scaled_by_the_speed_which_is_measured_once(play, monkeypatch):
    measured = []

    def measure():
        measured.append(True)
        return Speed(500_000.0, 0.95)

    monkeypatch.setattr(Speed, "measured", measure)
    monkeypatch.setattr(module.platform, "node", lambda: "desktop")
    game = play(allowance=Allowance(TimeControl(600, 2), nodes=5), sources={}, reference=600_000)
    outcome = game()
    assert outcome.record.scale == 1.2
    assert outcome.record.lowest.keys() == {"A", "B"}
    assert '[TimeControl "720+2.4 N=5"]' in outcome.pgn
    assert outcome.notes == [f"desktop, process {os.getpid()}: 500 knps, so time limits are multiplied by 1.2"]
    again = game(Fixture(1, "A", "B"))
    assert (again.record.scale, again.notes, measured) == (1.2, [], [True])


def test_a_worker_with_too_little_of_a_core_is_told_of():
    assert len(Speed(1e6, 0.9).notes(REFERENCE)) == 1
    _, warning = Speed(1e6, 0.5).notes(REFERENCE)
    assert warning.endswith(
        "more processes are busy than there are processor cores, so it got only 50% of a core; its clocks are not fair"
    )


def test_the_speed_of_this_machine():
    speed = Speed.measured()
    assert speed.nodes_per_second > 0
    assert speed.share > 0
    assert speed.factor(2_000_000) == pytest.approx(2 * speed.factor(1_000_000), rel=0.011)  # of three digits each


# --- whole matches -------------------------------------------------------------------------------------------------


@pytest.fixture
def match(capsys, tmp_path, fake_command):
    """Give the function that plays a match of engines that start each game alike; gives status, games and errors."""

    def run(name, *arguments):
        log, pgn = tmp_path / f"{name}.jsonl", tmp_path / f"{name}.pgn"
        words = ["--each", "nodes=1", "--max-moves", "15", "--games", "12", "--state", log, "--pgn", pgn]
        for engine in "AB":
            words += [
                "--engine",
                f"name={engine}",
                f"cmd={shlex.join(fake_command(f'game={ord(engine)}', f'mark={tmp_path}'))}",
            ]
        status = cli.main(["match", *map(str, words), *map(str, arguments)])
        games = {}
        with pgn.open() as stream:
            while game := chess.pgn.read_game(stream):
                key = (game.headers["Round"], game.headers["White"])
                assert key not in games
                games[key] = (game.headers["Result"], [move.uci() for move in game.mainline_moves()])
        numbers = [json.loads(line)["number"] for line in log.read_text().splitlines()[1:]]
        assert len(numbers) == len(set(numbers)) == len(games)
        return status, games, capsys.readouterr().err

    return run


@pytest.fixture
def after_games(monkeypatch):
    """Give the function that calls another one after each game that counts."""

    def call(function):
        add = Standings.add
        monkeypatch.setattr(Standings, "add", lambda self, record: (add(self, record), function(self)))

    return call


@pytest.fixture(scope="module")
def cluster():
    with local_cluster() as cluster:
        yield cluster


def test_the_games_are_the_same_by_processes_and_a_cluster_whose_workers_are_killed(
    cluster, match, after_games, tmp_path
):
    status, expected, err = match("one")
    assert (status, len(expected), err) == (0, 12, "")
    assert match("two", "--concurrency", 2) == (0, expected, "")
    with Client(cluster) as client:

        def kill_one(standings):
            if standings.games in (3, 6, 9):
                processes = []  # none while all that were killed before are being replaced
                eventually(lambda: processes.extend(client.run(os.getpid, on_error="ignore").values()) or processes)
                os.kill(processes[0], signal.SIGKILL)
                killed.append(True)

        killed = []
        after_games(kill_one)
        status, games, _ = match("killed", "--cluster", cluster.scheduler_address)
    assert (status, games) == (0, expected)
    assert len(killed) == 3
    eventually(lambda: not engines_of(tmp_path))


def test_a_match_goes_on_after_its_scheduler_was_lost(match, after_games, tmp_path):
    lost = []
    with commands(tmp_path) as cluster:

        def lose(standings):
            if standings.games == 3 and not lost:
                lost.append(True)
                cluster.lose_scheduler()

        cluster.start()
        after_games(lose)
        status, games, err = match("m", "--cluster", cluster.file)
        assert (status, 3 <= len(games) < 12) == (1, True)
        assert (
            "the same command continues from there\nknightadder: the connection to the cluster's scheduler was lost"
            in err
        )
        eventually(lambda: not engines_of(tmp_path))
        cluster.start()
        status, games, err = match("m", "--cluster", cluster.file)
        assert (status, len(games)) == (0, 12), err


@pytest.mark.parametrize("by_cluster", [False, True])
def test_ctrl_c_ends_the_engines(cluster, by_cluster, play, tmp_path):
    game = play({"A": ("do=silent", f"mark={tmp_path}")})

    def items():
        yield FIXTURE, BookLine()
        eventually(lambda: engines_of(tmp_path))
        raise KeyboardInterrupt

    with (
        pytest.raises(KeyboardInterrupt),
        open_pool(game.player, cluster.scheduler_address if by_cluster else None, 1) as pool,
    ):
        list(pool.run(items()))
    eventually(lambda: not engines_of(tmp_path))


def test_a_match_with_clocks_on_a_cluster(cluster, match, tmp_path):
    """The limits are those of the log: without a cluster, they would be others."""
    clocks = ("--games", 2, "--each", "tc=600000", "--max-moves", 9)
    status, games, err = match("m", *clocks, "--cluster", cluster.scheduler_address, "--reference-nps", 1000)
    assert (status, len(games)) == (0, 2)
    note = r"^knightadder: \S.*, process \d+: \d+ knps, so time limits are multiplied by (\S+)$"
    scales = {float(scale) for scale in re.findall(note, err, re.MULTILINE)}
    header, *records = [json.loads(line) for line in (tmp_path / "m.jsonl").read_text().splitlines()]
    assert header["scale"] == 1000
    assert scales and {record["scale"] for record in records} <= scales
    for other in ([], ["--cluster", cluster.scheduler_address]):
        status, _, err = match("m", *clocks, *other)
        assert status == 2
        assert "belongs to a run with other settings (scale)" in err
