"""Streams of events, one JSON object per line: a single connection, and a follower that reconnects after a drop."""

import contextlib
import logging
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import requests
import urllib3

from knightadder.foreign import parse_json
from knightadder.lichess.api_errors import Refused, Unreachable, reason_of
from knightadder.lichess.timers import Backoff, Timer

Json: TypeAlias = dict[str, Any]

logger = logging.getLogger(__name__)

# A connection counts as good if it lasted at least this many seconds, or delivered more than its first event. After a
# good connection, the bot soon tries to connect again.
_GOOD = 10.0
_MOST_WAIT = 15.0  # maximum seconds between attempts; short, because game clocks may be running


class EventStream:
    """One connection: an iterator over its events, which stops when the connection ends."""

    def __init__(self, response: requests.Response) -> None:
        self._response = response
        self.url = response.url

    def __iter__(self) -> Iterator[Json]:
        """Yield the events as they arrive; Unreachable if the connection fails, or a line is not a JSON object."""
        try:
            for line in self._response.iter_lines():
                if line:  # empty lines only keep the connection alive
                    yield parse_json(line, Json)
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError, AttributeError) as error:
            raise Unreachable(f"the connection to {self.url} was lost: {reason_of(error)}") from None
        except ValueError:
            raise Unreachable(f"{self.url} sent a line that is not an event") from None
        finally:
            self._response.close()

    def close(self) -> None:
        """Close the stream; no thread may be reading it."""
        self._response.close()

    def interrupt(self) -> None:
        """End the stream from a thread that does not read it."""
        # urllib3 before 2.3 has no shutdown(); then the stream ends with the next line, which may be empty.
        with contextlib.suppress(AttributeError, OSError, RuntimeError, ValueError):
            self._response.raw.shutdown()


class Follower:
    """Keeps a stream of events open, in a separate thread, until the server refuses it or `close` is called.

    `name` is the name of the thread, and of the stream in the log. `deliver` is called with each event, or a `Refused`
    if the server refuses the stream, and the connection's number, from 1. `connect` opens the stream; it gets the event
    that ends its waiting, because `close` was called.
    """

    def __init__(
        self,
        name: str,
        connect: Callable[[threading.Event], EventStream],
        deliver: Callable[[Json | Refused, int], object],
        clock: Timer,
    ) -> None:
        self._name, self._connect, self._deliver, self._clock = name, connect, deliver, clock
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._stream: EventStream | None = None
        self._attempt = 0
        self._events = 0  # number of events from the current connection
        self._dropped = 0  # number of the last dropped connection
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Start reading."""
        self._thread.start()

    def reconnect(self) -> int:
        """Drop the connection, even while it is being opened, and open a new one.
        Return the dropped connection's number. Events of connections with higher numbers are up to date.
        """
        with self._lock:
            self._dropped = self._attempt
            if self._stream:
                self._stream.interrupt()
            return self._dropped

    def close(self) -> None:
        """Close the stream; no more events are delivered."""
        with self._lock:
            self._closed.set()
            if self._stream:
                self._stream.interrupt()

    def join(self) -> None:
        """Wait for the end of the thread, after `close`."""
        self._thread.join()

    def _run(self) -> None:
        backoff = Backoff(most=_MOST_WAIT)
        while not self._closed.is_set():
            opened, self._events = self._clock.now(), 0
            try:
                reason = f"{self._read()} has ended"
            except Unreachable as error:
                reason = str(error)
            except Refused as error:
                if not self._closed.is_set():
                    self._deliver(error, self._attempt)
                return
            except Exception:  # the follower must continue after any error
                logger.exception("%s: failed", self._name)
                reason = "an error in the program"
            if self._events > 1 or self._clock.now() - opened > _GOOD:
                backoff.reset()
            if not self._closed.is_set():
                seconds = backoff.next()
                logger.info("%s: %s; trying again in %.1f s", self._name, reason, seconds)
                self._clock.wait(self._closed, seconds)

    def _read(self) -> str:
        """Read one connection until it ends, and return the address that was read."""
        with self._lock:
            self._attempt += 1
            number = self._attempt
        stream = self._connect(self._closed)
        with self._lock:
            if number <= self._dropped or self._closed.is_set():
                stream.close()
                return stream.url
            self._stream = stream
        try:
            for event in stream:
                if self._closed.is_set():
                    break
                self._events += 1
                self._deliver(event, number)
        finally:
            with self._lock:
                self._stream = None
        return stream.url
