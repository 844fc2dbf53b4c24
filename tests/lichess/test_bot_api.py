"""Requests to the server, and those that fail."""

import errno
import os
import re
import socket
import threading

import pytest
from fake_lichess import TOKEN, FakeLichess, Faults
from lichess_players import TIMEOUTS, StillClock

from knightadder.lichess.api_errors import Refused, Unreachable
from knightadder.lichess.bot_api import Lichess


@pytest.fixture
def connect():
    made = []

    def make(url, token=TOKEN, timeouts=TIMEOUTS):
        clock = StillClock()
        made.append(Lichess(url, token, clock, threading.Event(), timeouts))
        return made[-1], clock

    yield make
    for lichess in made:
        lichess.close()


def test_each_request_says_who_asks(connect):
    with FakeLichess() as server:
        lichess, _ = connect(server.url)
        lichess.introduce(lichess.account()["username"])
        lichess.account()
    assert server.authorizations == {f"Bearer {TOKEN}"}
    assert any(agent.startswith("knightadder/") and agent.endswith(" user:Adder") for agent in server.agents)


def test_a_netrc_file_does_not_replace_the_token(connect, tmp_path, monkeypatch):
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password else\n", "utf-8")
    monkeypatch.setenv("NETRC", str(netrc))
    with FakeLichess() as server:
        connect(server.url)[0].account()
    assert server.authorizations == {f"Bearer {TOKEN}"}


def test_a_wrong_token_is_refused_and_not_told(connect):
    with FakeLichess() as server, pytest.raises(Refused, match="No such token") as caught:
        connect(server.url, token="lip_wrong")[0].account()
    assert caught.value.status == 401
    assert "lip_wrong" not in repr(caught.value)


def test_after_429_no_request_is_made_for_a_minute(connect):
    with FakeLichess(Faults(too_many=1.0)) as server:
        server.challenge()
        lichess, clock = connect(server.url)
        server.start("game0001")
        with pytest.raises(Unreachable, match="pause"):
            lichess.move("game0001", "e2e4")
        assert clock.waits == []
        server.faults = Faults()
        lichess.resign("game0001")
    assert clock.waits == [60]


@pytest.mark.parametrize(
    "limited", [lambda lichess: lichess.chat("game0001", "Hello"), lambda lichess: lichess.events(threading.Event())]
)
def test_running_games_go_on_after_429_for_something_else(connect, limited):
    with FakeLichess(Faults(too_many=1.0)) as server:
        server.challenge()
        lichess, clock = connect(server.url)
        game = server.start("game0001")
        with pytest.raises(Unreachable, match="pause"):
            limited(lichess)
        server.faults = Faults()
        lichess.game("game0001", threading.Event()).close()
        lichess.move("game0001", "e2e4")
        with pytest.raises(Unreachable, match="no chat until the pause is over"):
            lichess.chat("game0001", "Hello")
        assert (game.moves[0], game.chat, clock.waits) == ("e2e4", [], [])
        lichess.account()
    assert clock.waits == [60]


def test_what_may_be_repeated_is_with_longer_and_longer_waits(connect):
    with FakeLichess(Faults(error=1.0)) as server:  # strikes the first three times
        lichess, clock = connect(server.url)
        assert lichess.account()["id"] == "adder"
    assert server.requests == ["GET /api/account"] * 4
    assert len(clock.waits) == 3
    assert clock.waits == sorted(clock.waits)


def test_patience_has_an_end(connect):
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # and does not listen; nobody else can have the port meanwhile
        url = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        lichess, clock = connect(url)
        with pytest.raises(Unreachable) as caught:
            lichess.account()
    reason = os.strerror(errno.ECONNREFUSED)
    assert str(caught.value) == f"no valid answer from {url}/api/account: {reason}"
    assert len(clock.waits) == 5


@pytest.mark.parametrize(
    ("faults", "message"),
    [
        (Faults(error=1.0), "URL fails: .+ \\(status 5\\d\\d\\)"),
        (Faults(slow=1.0), "URL fails: Request timeout \\(status 408\\)"),
        (Faults(too_many=1.0), "URL asks for a pause \\(status 429\\)"),
        (Faults(refuse=1.0), "no valid answer from URL: Remote end closed connection without response"),
    ],
)
def test_every_failure_names_the_address_and_the_reason(connect, faults, message):
    with FakeLichess(faults) as server:
        server.challenge()
        server.start("game0001")
        lichess, _ = connect(server.url)
        with pytest.raises(Unreachable) as caught:
            lichess.move("game0001", "e2e4")
    url = re.escape(f"{server.url}/api/bot/game/game0001/move/e2e4")
    assert re.fullmatch(message.replace("URL", url), str(caught.value))


@pytest.mark.parametrize("fault", ["error", "refuse", "too_many"])
def test_a_move_is_never_repeated_by_itself(connect, fault):
    with FakeLichess(Faults(**{fault: 1.0})) as server:
        server.challenge()
        game = server.start("game0001")
        with pytest.raises(Unreachable):
            connect(server.url)[0].move("game0001", "e2e4")
    assert game.moves == []
    assert server.requests == ["POST /api/bot/game/game0001/move/e2e4"]


@pytest.mark.parametrize("fault", ["lost", "bad_gateway"])
def test_a_move_may_have_been_made_though_nobody_says_so(connect, fault):
    with FakeLichess(Faults(**{fault: 1.0})) as server:
        server.challenge()
        game = server.start("game0001")
        with pytest.raises(Unreachable):
            connect(server.url)[0].move("game0001", "e2e4")
    assert game.moves[0] == "e2e4"


def test_an_answer_that_does_not_come_is_not_waited_for(connect):
    with FakeLichess() as server:
        server.hold = threading.Event()
        server.challenge()
        server.start("game0001")
        with pytest.raises(Unreachable):
            connect(server.url, timeouts=(60.0, 0.05, 0.05))[0].move("game0001", "e2e4")
        server.hold.set()


def test_a_draw_is_offered_with_the_move(connect):
    with FakeLichess() as server:
        server.challenge()
        server.start("game0001")
        connect(server.url)[0].move("game0001", "e2e4", offer_draw=True)
    assert server.requests == ["POST /api/bot/game/game0001/move/e2e4?offeringDraw=true"]


def test_a_refusal_has_the_servers_reason(connect):
    with FakeLichess() as server:
        server.challenge()
        server.start("game0001")
        with pytest.raises(
            Refused, match=r"^the server refused http://\S+/move/e2e5: .*cannot move to e5.* \(status 400\)$"
        ):
            connect(server.url)[0].move("game0001", "e2e5")


def test_chat_is_cut_to_what_the_server_takes(connect):
    with FakeLichess() as server:
        server.challenge()
        game = server.start("game0001")
        connect(server.url)[0].chat("game0001", "x" * 200)
    assert game.chat == ["x" * 140]


@pytest.mark.parametrize("answer", [[1], 3, None, "text", {}, {"id": "adder"}, {"id": 3, "username": "Adder"}])
def test_what_is_no_account_is_not_taken_for_one(connect, answer):
    with FakeLichess() as server:
        server.account = answer
        with pytest.raises(Unreachable, match=r"no valid answer from http://.+/api/account: "):
            connect(server.url)[0].account()
