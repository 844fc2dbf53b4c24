"""Lichess's bot API: requests, and retries after failures."""

import logging
import threading
from typing import Any, TypeAlias

import requests
from requests.adapters import HTTPAdapter
from requests.auth import AuthBase

from knightadder import __version__
from knightadder.foreign import parse_json
from knightadder.lichess.api_errors import Limited, Refused, Unreachable, reason_of
from knightadder.lichess.event_stream import EventStream
from knightadder.lichess.timers import Backoff, Timer

Json: TypeAlias = dict[str, Any]

logger = logging.getLogger(__name__)

# Timeouts in seconds: for a connection, for an answer, and between a stream's lines (Lichess sends an empty line about
# every six seconds).
_TIMEOUTS = 5.0, 6.0, 15.0

_TOO_MANY_REQUESTS = 429
_TEMPORARY = (408, 425)  # a timeout, or a connection that is too new: a server in between asks to repeat the request
_PAUSE = 60.0  # seconds; Lichess's documentation: "wait a full minute before resuming API usage"
_GAMES = "/api/bot/game/"  # the path of all requests about running games
_ATTEMPTS = 6
_MOST_CONNECTIONS = 64  # each game needs two, because its stream occupies one
_LONGEST_CHAT = 140


class Lichess:
    """The requests of a bot, for all its threads, with a token of scope ``bot:play``; `ending` stops all waiting."""

    def __init__(
        self,
        url: str,
        token: str,
        clock: Timer,
        ending: threading.Event,
        timeouts: tuple[float, float, float] = _TIMEOUTS,
    ) -> None:
        self._url, self._clock, self._ending = url.rstrip("/"), clock, ending
        self._connect, self._answer, self._silence = timeouts
        self._session = requests.Session()
        self._session.auth = _Bearer(token)
        self._session.headers["User-Agent"] = f"knightadder/{__version__}"
        for scheme in ("http://", "https://"):
            self._session.mount(scheme, HTTPAdapter(pool_maxsize=_MOST_CONNECTIONS))
        # Ends of the pauses after the status 429: for requests about running games, and for others.
        self._games_resume_at = self._others_resume_at = clock.now()

    def close(self) -> None:
        """Close the connections that are not in use."""
        self._session.close()

    # --- the account -----------------------------------------------------------------------------------------------

    def account(self) -> Json:
        """Return the account's data: ``id`` and ``username``, which are strings, ``title`` and more."""
        account = self._repeat("GET", "/api/account")
        if not all(isinstance(account.get(name), str) for name in ("id", "username")):
            raise Unreachable(f"no valid answer from {self._url}/api/account: it does not describe an account")
        return account

    def upgrade(self) -> None:
        """Make the account a bot account, permanently."""
        self._once("POST", "/api/bot/account/upgrade")

    def introduce(self, name: str) -> None:
        """Send the account's name with every later request, as Lichess asks bots to do."""
        self._session.headers["User-Agent"] = f"knightadder/{__version__} user:{name}"

    # --- streams ---------------------------------------------------------------------------------------------------

    def events(self, closed: threading.Event) -> EventStream:
        """Open the stream of challenges and games, which begins with the current challenges and games.
        If `closed` is set during a pause, the stream is not opened: Unreachable.
        """
        return self._open("/api/stream/event", closed)

    def game(self, game_id: str, closed: threading.Event) -> EventStream:
        """Open the stream of a game; its first line describes the whole game. `closed` is as for `events`."""
        return self._open(f"{_GAMES}stream/{game_id}", closed)

    # --- challenges ------------------------------------------------------------------------------------------------

    def accept(self, challenge_id: str) -> None:
        """Accept a challenge."""
        self._repeat("POST", f"/api/challenge/{challenge_id}/accept")

    def decline(self, challenge_id: str, reason: str) -> None:
        """Decline a challenge; `reason` is one of Lichess's keys."""
        self._repeat("POST", f"/api/challenge/{challenge_id}/decline", json={"reason": reason})

    # --- games -----------------------------------------------------------------------------------------------------

    def move(self, game_id: str, move: str, offer_draw: bool = False) -> float:
        """Send a move once, without retries, and return the seconds that the request took.
        Refused if the move cannot be made. Unreachable if it is unknown whether the move was made; the stream shows it.
        """
        path = f"{_GAMES}{game_id}/move/{move}"
        self._pause(path, self._ending)
        began = self._clock.now()
        self._once("POST", path, params={"offeringDraw": "true"} if offer_draw else None)
        return self._clock.now() - began

    def chat(self, game_id: str, text: str) -> None:
        """Send a chat message to the opponent once, without retries; it is cut to 140 characters. Unreachable during a
        pause, for which no game should wait.
        """
        path = f"{_GAMES}{game_id}/chat"
        if self._left(path) > 0:
            raise Unreachable("no chat until the pause is over")
        self._once("POST", path, json={"room": "player", "text": text[:_LONGEST_CHAT]})

    def abort(self, game_id: str) -> None:
        """Abort a game in its first moves; an aborted game has no result."""
        self._repeat("POST", f"{_GAMES}{game_id}/abort")

    def resign(self, game_id: str) -> None:
        """Abort a game if possible, otherwise resign it."""
        self._repeat("POST", f"{_GAMES}{game_id}/resign")

    def accept_draw(self, game_id: str) -> None:
        """Accept or claim a draw."""
        self._repeat("POST", f"{_GAMES}{game_id}/draw/yes")

    def decline_takeback(self, game_id: str) -> None:
        """Decline to take back moves."""
        self._repeat("POST", f"{_GAMES}{game_id}/takeback/no")

    def claim_victory(self, game_id: str) -> None:
        """Claim victory in a game that the opponent has left."""
        self._repeat("POST", f"{_GAMES}{game_id}/claim-victory")

    # --- making requests -------------------------------------------------------------------------------------

    def _open(self, path: str, closed: threading.Event) -> EventStream:
        if self._pause(path, closed):
            raise Unreachable(f"{self._url}{path} is not needed any more")
        return EventStream(self._send("GET", path, self._silence, stream=True))

    def _once(self, method: str, path: str, **content: Any) -> Json:
        """Make a request and return the answer; Refused or Unreachable if it fails."""
        response = self._send(method, path, self._answer, **content)
        try:
            answer: Json = parse_json(response.content, Json)
        except ValueError as error:
            raise Unreachable(f"no valid answer from {response.url}: {error}") from None
        return answer

    def _send(self, method: str, path: str, timeout: float, **content: Any) -> requests.Response:
        self._pause(path, self._ending)
        url = self._url + path
        try:
            response = self._session.request(method, url, timeout=(self._connect, timeout), **content)
        except Exception as error:  # whatever the reason for the missing answer
            raise Unreachable(f"no valid answer from {url}: {reason_of(error)}") from None
        status = response.status_code
        if status < 400:
            return response
        body = _body(response)
        reason = str(body.get("error") or response.reason or "no reason given")
        if status == _TOO_MANY_REQUESTS:
            if "ratelimit" in body:  # for example, of games against other bots in a day
                raise Limited(f"{url} is limited: {reason} (status {status})")
            self._others_resume_at = self._clock.now() + _PAUSE
            if _is_urgent(path):
                self._games_resume_at = self._others_resume_at
            logger.warning("too many requests: waiting for a minute")
            raise Unreachable(f"{url} asks for a pause (status {status})")
        if status >= 500 or status in _TEMPORARY:
            raise Unreachable(f"{url} fails: {reason} (status {status})")
        raise Refused(status, reason, url)

    def _pause(self, path: str, ended: threading.Event) -> bool:
        """Wait until a request may be made, after the status 429, or until an event; return whether it is set. Running
        games go on, because their clocks do, unless it was the answer to a request about a game.
        """
        seconds = self._left(path)
        return seconds > 0 and self._clock.wait(ended, seconds)

    def _left(self, path: str) -> float:
        return (self._games_resume_at if _is_urgent(path) else self._others_resume_at) - self._clock.now()

    def _repeat(self, method: str, path: str, **content: Any) -> Json:
        """Make a request that is safe to repeat, until there is an answer or the attempts are used up."""
        backoff = Backoff()
        for _ in range(_ATTEMPTS - 1):
            try:
                return self._once(method, path, **content)
            except Limited:
                raise
            except Unreachable as error:
                seconds = backoff.next()
                logger.info("%s; trying again in %.1f s", error, seconds)
                if self._clock.wait(self._ending, seconds):
                    break
        return self._once(method, path, **content)


def _is_urgent(path: str) -> bool:
    """Return whether a request is about a running game, whose clock does not wait; chat is not urgent."""
    return path.startswith(_GAMES) and not path.endswith("/chat")


class _Bearer(AuthBase):
    """Adds the token to each request, hides it in printed text, and ignores .netrc files."""

    def __init__(self, token: str) -> None:
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Bearer {self._token}"
        return request


def _body(response: requests.Response) -> Json:
    try:
        body: Json = parse_json(response.content, Json)
    except (ValueError, requests.RequestException):  # the body is not JSON, or never arrives
        body = {}
    return body
