"""Lichess's bot API, through the library berserk: requests, and retries after a failure."""

import logging
import threading
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

import berserk
import requests
from berserk.exceptions import ResponseError
from requests.adapters import HTTPAdapter
from requests.auth import AuthBase

from knightadder import __version__
from knightadder.lichess.errors import Refused, Unreachable, reason_of
from knightadder.lichess.event_stream import EVENTS, EventStream
from knightadder.lichess.waiting import Backoff, Timer

Json: TypeAlias = dict[str, Any]
T = TypeVar("T")

logger = logging.getLogger(__name__)

# Timeouts in seconds: to connect, for an answer, and between a stream's lines (an empty one comes every six or so).
_TIMEOUTS = 5.0, 6.0, 15.0

_TOO_MANY_REQUESTS = 429
_PAUSE = 60.0  # "wait a full minute before resuming API usage"
_ATTEMPTS = 6
_MOST_CONNECTIONS = 64  # two for each game, because its stream occupies one
_LONGEST_CHAT = 140


class Lichess:
    """The requests of a bot, for all its threads.

    Parameters
    ----------
    url : str
        The server.
    token : str
        The access token, which needs the scope ``bot:play``.
    clock : Timer
        To wait by.
    ending : threading.Event
        When set, waits are cut short.
    timeouts : tuple of float
        Timeouts in seconds: to connect, for an answer, and between the lines of a stream.
    """

    def __init__(
        self,
        url: str,
        token: str,
        clock: Timer,
        ending: threading.Event,
        timeouts: tuple[float, float, float] = _TIMEOUTS,
    ) -> None:
        self._url, self._clock, self._ending = url, clock, ending
        self._session = _Session(token, timeouts)
        self._client = berserk.Client(self._session, base_url=url)
        self._bot = berserk.Requestor(self._session, url, default_fmt=berserk.JSON)  # for requests that Client lacks
        self._resume_at = clock.now()

    def close(self) -> None:
        """Close the connections that are not in use."""
        self._session.close()

    # --- the account -----------------------------------------------------------------------------------------------

    def account(self) -> Json:
        """Give the account's data: ``id`` and ``username``, which are texts, ``title`` and more."""

        def request() -> Json:
            account = dict(self._client.account.get())
            if not all(isinstance(account.get(name), str) for name in ("id", "username")):
                raise ValueError("this is no account")
            return account

        return self._repeat(request)

    def upgrade(self) -> None:
        """Make the account a bot account, permanently."""
        self._once(self._client.account.upgrade_to_bot)

    def introduce(self, name: str) -> None:
        """Name the account in every later request, as Lichess asks bots to do."""
        self._session.headers["User-Agent"] = f"knightadder/{__version__} user:{name}"

    # --- streams ---------------------------------------------------------------------------------------------------

    def events(self) -> EventStream:
        """Open the stream of challenges and games, which begins with the current ones."""
        return self._open("/api/stream/event")

    def game(self, game_id: str) -> EventStream:
        """Open the stream of a game; its first line describes the whole game."""
        return self._open(f"/api/bot/game/stream/{game_id}")

    # --- challenges ------------------------------------------------------------------------------------------------

    def accept(self, challenge_id: str) -> None:
        """Accept a challenge."""
        self._repeat(lambda: self._client.bots.accept_challenge(challenge_id))

    def decline(self, challenge_id: str, reason: str) -> None:
        """Decline a challenge for one of Lichess's reasons."""
        path = f"/api/challenge/{challenge_id}/decline"
        self._repeat(lambda: self._bot.post(path, json={"reason": reason}))

    # --- games -----------------------------------------------------------------------------------------------------

    def move(self, game_id: str, move: str, offer_draw: bool = False) -> float:
        """Send a move, once.

        Returns
        -------
        float
            Seconds that the request took.

        Raises
        ------
        Refused
            If it is not the bot's turn, the move is illegal or the game is over.
        Unreachable
            If it is unknown whether the move was made; the game's stream shows it.
        """
        path = f"/api/bot/game/{game_id}/move/{move}"
        self._pause()
        began = self._clock.now()
        self._once(lambda: self._bot.post(path, params={"offeringDraw": "true"} if offer_draw else None))
        return self._clock.now() - began

    def chat(self, game_id: str, text: str) -> None:
        """Send a chat message to the opponent, once; cut to 140 characters."""
        self._once(lambda: self._client.bots.post_message(game_id, text[:_LONGEST_CHAT]))

    def abort(self, game_id: str) -> None:
        """Abort a game that has hardly begun, which gives no result."""
        self._repeat(lambda: self._client.bots.abort_game(game_id))

    def resign(self, game_id: str) -> None:
        """Resign a game, or abort it if that is possible."""
        self._repeat(lambda: self._client.bots.resign_game(game_id))

    def accept_draw(self, game_id: str) -> None:
        """Accept or claim a draw."""
        self._repeat(lambda: self._bot.post(f"/api/bot/game/{game_id}/draw/yes"))

    def decline_takeback(self, game_id: str) -> None:
        """Decline to take back moves."""
        self._repeat(lambda: self._bot.post(f"/api/bot/game/{game_id}/takeback/no"))

    def claim_victory(self, game_id: str) -> None:
        """Claim victory in a game that the opponent has left."""
        self._repeat(lambda: self._bot.post(f"/api/bot/game/{game_id}/claim-victory"))

    # --- how requests are made -------------------------------------------------------------------------------------

    def _open(self, path: str) -> EventStream:
        stream: EventStream = self._once(lambda: self._bot.get(path, stream=True, fmt=EVENTS))  # type: ignore[assignment]
        return stream

    def _once(self, request: Callable[[], T]) -> T:
        """Make a request; Refused or Unreachable if it fails."""
        self._pause()
        self._session.forget_address()
        try:
            return request()
        except ResponseError as error:
            status, url = int(error.status_code), self._session.address() or self._url
            if status == _TOO_MANY_REQUESTS:
                self._resume_at = self._clock.now() + _PAUSE
                logger.warning("too many requests: no other for a minute")
                raise Unreachable(f"{url} asks for a pause (status {status})") from None
            if status >= 500:
                raise Unreachable(f"{url} fails: {_explanation(error)} (status {status})") from None
            raise Refused(status, _explanation(error), url) from None
        except Exception as error:  # no connection, or an answer that berserk cannot read
            url = self._session.address() or self._url
            raise Unreachable(f"no valid answer from {url}: {reason_of(error)}") from None

    def _pause(self) -> None:
        """Wait until requests are allowed again."""
        seconds = self._resume_at - self._clock.now()
        if seconds > 0:
            self._clock.wait(self._ending, seconds)

    def _repeat(self, request: Callable[[], T]) -> T:
        """Repeat a request that is safe to repeat, until there is an answer or the attempts are used up."""
        backoff = Backoff()
        for _ in range(_ATTEMPTS - 1):
            try:
                return self._once(request)
            except Unreachable as error:
                seconds = backoff.next()
                logger.info("%s; again in %.1f s", error, seconds)
                if self._clock.wait(self._ending, seconds):
                    break
        return self._once(request)


class _Session(requests.Session):
    """A session with timeouts; a .netrc file cannot replace its token."""

    def __init__(self, token: str, timeouts: tuple[float, float, float]) -> None:
        super().__init__()
        self.auth = _Bearer(token)
        self._connect, self._answer, self._silence = timeouts
        self._last = threading.local()  # requests of several threads go on at once
        self.headers["User-Agent"] = f"knightadder/{__version__}"
        for scheme in ("http://", "https://"):
            self.mount(scheme, HTTPAdapter(pool_maxsize=_MOST_CONNECTIONS))

    def send(self, request: requests.PreparedRequest, **kwargs: Any) -> requests.Response:
        """Send a request."""
        self._last.url = request.url
        kwargs["timeout"] = self._connect, self._silence if kwargs.get("stream") else self._answer
        return super().send(request, **kwargs)

    def address(self) -> str:
        """Return the address of this thread's last request; empty if none was sent since `forget_address`."""
        return getattr(self._last, "url", None) or ""

    def forget_address(self) -> None:
        """Forget the address of this thread's last request."""
        self._last.url = ""


class _Bearer(AuthBase):
    """Adds the token to each request, and keeps it out of text that could be printed."""

    def __init__(self, token: str) -> None:
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Bearer {self._token}"
        return request


def _explanation(error: ResponseError) -> str:
    """Give the server's explanation of the error."""
    cause = error.cause
    text = cause.get("error") if isinstance(cause, dict) else None
    return str(text or error.reason or "no reason given")
