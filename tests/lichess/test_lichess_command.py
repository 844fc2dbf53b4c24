"""The command as a whole: what it takes, what it refuses, and games with the real engine."""

import io
import os
import signal
import threading

import pytest
from fake_lichess import TOKEN, FakeLichess
from lichess_players import PATIENCE, TIMEOUTS, Chooser, Thinker

from knightadder import cli
from knightadder.lichess.bot_api import Lichess


@pytest.fixture(autouse=True)
def token(monkeypatch):
    monkeypatch.setenv("LICHESS_TOKEN", TOKEN)


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """Let requests wait for a busy machine."""
    monkeypatch.setattr(Lichess.__init__, "__defaults__", (TIMEOUTS,))


@pytest.fixture
def chooser(monkeypatch):
    """Engines that think about nothing instead of the real one; gives the options that they were made with."""
    made = []

    def make(options):
        made.append(options)
        return Chooser()

    monkeypatch.setattr("knightadder.library.board_engine.Engine", make)
    return made


def run(*arguments):
    return cli.main(["lichess", *arguments])


def test_games_with_the_real_engine(capfd, tmp_path):
    log = tmp_path / "bot.log"
    with FakeLichess() as server:
        games = [
            server.challenge(most_plies=12),
            server.challenge(False, fen="bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
                             variant="chess960", most_plies=12),
        ]  # fmt: skip
        status = run(
            "--url", server.url, "--games", "2", "--concurrency", "2", "--nodes", "300", "--ponder", "--hash", "1",
            "--resign-score", "0", "--verbose", "--log", str(log),
        )  # fmt: skip
    assert status == 0
    assert server.violations == []
    assert [server.games[game_id].status for game_id in games] == ["draw", "draw"]
    err = capfd.readouterr().err
    assert "playing as Adder" in err and "ended after 2 games" in err
    assert log.read_text("utf-8").count("over, drawn") == 2
    assert TOKEN not in err + log.read_text("utf-8")


def test_settings_reach_the_engine(chooser, capsys, tmp_path):
    file = tmp_path / "bot.toml"
    file.write_text('threads = 2\nsyzygy = "/tables"\n[options]\nOwnBook = true\n', "utf-8")
    with FakeLichess() as server:
        server.challenge(most_plies=4)
        assert run("--url", server.url, "--games", "1", "--config", str(file), "--option", "BookDepth=8") == 0
    assert "ended after 1 game\n" in capsys.readouterr().err
    assert chooser == [{"Hash": 64, "Threads": 2, "SyzygyPath": "/tables", "OwnBook": True, "BookDepth": "8"}]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_the_bot(monkeypatch, number):
    engine = Thinker()
    monkeypatch.setattr("knightadder.library.board_engine.Engine", lambda options: engine)
    before = signal.getsignal(number)
    with FakeLichess() as server:
        game_id = server.challenge()

        def interrupt():
            assert engine.thinking.wait(PATIENCE)
            os.kill(os.getpid(), number)

        threading.Thread(target=interrupt).start()
        assert run("--url", server.url, "--on-interrupt", "resign") == 0
    assert server.games[game_id].status == "aborted"
    assert signal.getsignal(number) is before


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--speeds", "fast"], "speeds: expected ultraBullet or bullet"),
        (["--url", "lichess"], "url: lichess is not the address of a server"),
        (["--option", "Nonsense"], "--option Nonsense: expected NAME=VALUE"),
        (["--option", "Nonsense=1"], "unknown option: Nonsense"),
        (["--token-file", "missing"], "cannot read missing"),
        (["--config", "missing"], "cannot read missing"),
        (["--log", "missing/bot.log"], "cannot write missing/bot.log"),
        (
            ["--config", "bot.toml", "--log", "./bot.toml"],
            "--log bot.toml: this file contains the settings",
        ),
        (["--token-file", "bot.toml", "--log", "bot.toml"], "this file contains the settings or the token"),
    ],
)
def test_bad_arguments_are_one_line(capsys, tmp_path, monkeypatch, arguments, complaint):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bot.toml").touch()
    assert run(*arguments) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("knightadder: ") and complaint in err


def test_a_token_that_is_not_accepted(capsys, monkeypatch):
    monkeypatch.setenv("LICHESS_TOKEN", "lip_wrong")
    with FakeLichess() as server:
        assert run("--url", server.url) == 2
    err = capsys.readouterr().err
    assert "does not accept the token" in err and "lip_wrong" not in err


def test_an_account_that_is_no_bot_is_left_as_it_is(capsys):
    with FakeLichess(account={"id": "human", "username": "Human"}) as server:
        assert run("--url", server.url) == 2
    assert "Human is not a bot account" in capsys.readouterr().err
    assert server.requests == ["GET /api/account"]


@pytest.mark.parametrize(
    ("answer", "status", "said", "upgraded"),
    [
        ("Human\n", 0, "Human is now a bot account", True),
        ("yes\n", 1, "Nothing was changed", False),
        ("", 1, "Nothing was changed", False),
    ],
)
def test_an_account_is_upgraded_only_if_its_name_is_typed(capsys, monkeypatch, answer, status, said, upgraded):
    monkeypatch.setattr("sys.stdin", io.StringIO(answer))
    with FakeLichess(account={"id": "human", "username": "Human"}) as server:
        assert run("--url", server.url, "--upgrade") == status
    out = capsys.readouterr().out
    assert "forever" in out and said in out
    assert ("POST /api/bot/account/upgrade" in server.requests) == upgraded


def test_a_bot_is_not_upgraded_again(capsys):
    with FakeLichess() as server:
        assert run("--url", server.url, "--upgrade") == 0
    assert "Adder is already a bot account" in capsys.readouterr().out
    assert server.requests == ["GET /api/account"]
