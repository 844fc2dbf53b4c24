"""Streams of events, and how they are kept open."""

import threading
from queue import SimpleQueue

import pytest
from fake_lichess import TOKEN, FakeLichess, Faults
from lichess_players import PATIENCE, TIMEOUTS, StillClock
from waiting import eventually

from knightadder.lichess.api_errors import Refused, Unreachable
from knightadder.lichess.bot_api import Lichess
from knightadder.lichess.event_stream import Follower


@pytest.fixture
def follow():
    followers, made = [], []

    def start(server, timeouts=TIMEOUTS):
        events, clock = SimpleQueue(), StillClock()
        lichess = Lichess(server.url, TOKEN, clock, threading.Event(), timeouts)
        follower = Follower("test", lichess.events, lambda *event: events.put(event), clock)
        followers.append(follower)
        made.append(lichess)
        follower.start()
        return follower, events, clock

    yield start
    for follower in followers:
        follower.close()
        follower.join()
    for lichess in made:
        lichess.close()


def next_event(events):
    event, number = events.get(timeout=PATIENCE)
    return event["challenge"]["id"], number


@pytest.mark.parametrize("fault", ["event_lost", "event_garbled"])
def test_a_stream_that_drops_or_is_garbled_is_opened_anew(follow, fault):
    with FakeLichess(Faults(**{fault: 1.0})) as server:
        _, events, _ = follow(server)
        eventually(lambda: server.listeners)
        server.challenge()  # this announcement is lost
        event, number = next_event(events)
        assert event == "game0001"
        assert number > 1


def test_the_connection_is_dropped_on_request(follow):
    with FakeLichess() as server:
        server.challenge()
        follower, events, _ = follow(server)
        assert next_event(events) == ("game0001", 1)
        assert follower.reconnect() == 1
        assert next_event(events) == ("game0001", 2)


def test_attempts_that_fail_come_at_longer_and_longer_intervals(follow):
    with FakeLichess(Faults(ends_at_once=1.0)) as server:  # three times
        server.challenge()
        _, events, clock = follow(server)
        assert next_event(events) == ("game0001", 4)
    waits = clock.waits[:3]  # there is one more, if it sees the server go
    assert waits == sorted(waits) and waits[2] >= 1


def test_a_stream_without_a_sign_of_life_is_given_up(follow):
    with FakeLichess(keep_alive=3600) as server:
        server.challenge()
        _, events, _ = follow(server, timeouts=(60.0, 0.2, 0.2))  # an attempt that is too slow for it is repeated
        assert next_event(events)[1] < next_event(events)[1]


def test_empty_lines_are_no_events(follow):
    with FakeLichess() as server:
        _, events, _ = follow(server)
        eventually(lambda: server.listeners)
        for line in (b"\n", b"\r\n", b"\n"):
            server.listeners[0].put(line)
        server.challenge()
        assert next_event(events) == ("game0001", 1)


def test_an_error_in_the_program_does_not_deafen_it(caplog):
    events = SimpleQueue()

    def deliver(event, number):
        if number == 1:
            raise RuntimeError("unforeseen")
        events.put((event, number))

    with FakeLichess() as server:
        server.challenge()
        clock = StillClock()
        lichess = Lichess(server.url, TOKEN, clock, threading.Event(), TIMEOUTS)
        follower = Follower("test", lichess.events, deliver, clock)
        follower.start()
        assert next_event(events) == ("game0001", 2)
        follower.close()
        follower.join()
        lichess.close()
    assert "unforeseen" in caplog.text


def test_a_refusal_is_the_end(follow):
    with FakeLichess() as server:
        clock, events = StillClock(), SimpleQueue()
        lichess = Lichess(server.url, "lip_wrong", clock, threading.Event(), TIMEOUTS)
        follower = Follower("test", lichess.events, lambda *event: events.put(event), clock)
        follower.start()
        error, _ = events.get(timeout=PATIENCE)
        follower.join()
        lichess.close()
    assert isinstance(error, Refused)


def test_a_pause_ends_when_the_stream_is_closed():
    with FakeLichess(Faults(too_many=1.0)) as server:

        class ClosingClock(StillClock):
            def wait(self, event, seconds):
                if seconds == 60:  # after the status 429
                    follower.close()
                    ended.append(event.is_set())
                return super().wait(event, seconds)

        clock, ended = ClosingClock(), []
        lichess = Lichess(server.url, TOKEN, clock, threading.Event(), TIMEOUTS)
        follower = Follower("test", lichess.events, lambda *event: None, clock)
        follower.start()
        follower.join()
        lichess.close()
    assert ended == [True]
    assert server.requests == ["GET /api/stream/event"]


@pytest.mark.parametrize("line", [b"[1, 2]", b"3", b"{", b"\xff\xfe", b"[" * 100_000, b'{"a":' * 100_000, b"9" * 5000])
def test_a_line_that_is_no_object_ends_the_stream(line):
    with FakeLichess() as server:
        lichess = Lichess(server.url, TOKEN, StillClock(), threading.Event(), TIMEOUTS)
        stream = lichess.events(threading.Event())
        eventually(lambda: server.listeners)
        server.listeners[0].put(line + b"\n")
        with pytest.raises(Unreachable, match=r"^http://.+/api/stream/event sent a line that is not an event$"):
            list(stream)
        lichess.close()
