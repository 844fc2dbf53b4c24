"""The bot: accepts challenges, runs each game in a thread, and ends on request or after a given number of games."""

import contextlib
import logging
import math
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from typing import Any, TypeAlias

from knightadder.engine.errors import EngineError
from knightadder.library.board_engine import Engine
from knightadder.lichess.api_errors import Limited, Refused, Unreachable
from knightadder.lichess.bot_api import Lichess
from knightadder.lichess.challenges import VARIANTS, DeclineReason
from knightadder.lichess.engines import GameEngines
from knightadder.lichess.event_stream import Follower
from knightadder.lichess.game_play import GamePlay
from knightadder.lichess.settings import BotSettings
from knightadder.lichess.timers import Timer
from knightadder.lichess.timing import Lag

Json: TypeAlias = dict[str, Any]

logger = logging.getLogger(__name__)

_LOOK_UP = 1.0  # seconds between checks for overdue games, and for Ctrl-C
_START_WITHIN = 60.0  # seconds from accepting a challenge, after which its game counts as cancelled
_START_AFTER_DOUBT = 10.0
_PLACE_WITHIN = 2.0  # seconds: a rematch is offered before the bot has said goodbye and its place is free

_NOT_FOUND = 404


@dataclass(frozen=True, slots=True)
class _GameDone:
    """The message that a game's thread has ended."""

    game_id: str


@dataclass(frozen=True, slots=True)
class _Interrupt:
    """The message that the bot should stop."""


@dataclass(frozen=True, slots=True)
class _Running:
    play: GamePlay
    thread: threading.Thread
    slow: bool  # whether it is a correspondence game


@dataclass(frozen=True, slots=True)
class _Expected:
    """An accepted game that has not started, and the latest time of its start."""

    until: float
    slow: bool


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A challenge that waits for a free place, and the latest time of the answer."""

    until: float
    slow: bool
    name: str


@dataclass(frozen=True, slots=True)
class _Acceptance:
    """The message that the server has answered the acceptance of a challenge; `error` says why that failed, or None."""

    challenge_id: str
    challenge: _Waiting
    error: Exception | None


class Bot:
    """Accepts challenges on Lichess and plays the games."""

    def __init__(
        self, lichess: Lichess, account: Json, engines: GameEngines, settings: BotSettings, clock: Timer
    ) -> None:
        self._lichess, self._engines, self._settings, self._clock = lichess, engines, settings, clock
        self._account_id, self._account_name = str(account["id"]), str(account["username"])
        self._lag = Lag(settings.move_overhead)
        # A SimpleQueue, because a signal handler may call put() while the same thread is inside get().
        self._inbox: SimpleQueue[Json | Refused | _Acceptance | _GameDone | _Interrupt] = SimpleQueue()
        # A separate thread makes the bot's requests: an answer may take minutes, and games may start meanwhile.
        self._requests: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._requester = threading.Thread(target=self._make_requests, name="requests", daemon=True)
        self._follower = Follower("events", lichess.events, lambda event, _: self._inbox.put(event), clock)
        self._games: dict[str, _Running] = {}
        self._waiting: dict[str, _Waiting] = {}
        self._expected: dict[str, _Expected] = {}
        self._seen: set[str] = set()  # all games that have started
        self._declined: set[str] = set()
        self._interrupts = 0
        self._failure: Refused | None = None

    @property
    def games_played(self) -> int:
        """Number of games that have started."""
        return len(self._seen)

    def interrupt(self) -> None:
        """Accept no more challenges, leave correspondence games, and stop after all other games; a second call resigns
        those. Any thread may call this.
        """
        self._inbox.put(_Interrupt())

    def run(self) -> None:
        """Play until the number of games is reached, or until `interrupt` is called."""
        self._follower.start()
        self._requester.start()
        try:
            while self._games or self._expected or not self._ending():
                item = self._clock.get(self._inbox, _LOOK_UP)
                if isinstance(item, _GameDone):
                    self._games.pop(item.game_id).thread.join()
                elif isinstance(item, _Acceptance):
                    self._on_acceptance(item)
                elif isinstance(item, _Interrupt):
                    self._interrupts += 1
                    rest = "are resigned" if self._leaves() else "are finished; Ctrl-C again resigns them"
                    logger.info("interrupted: no more challenges are accepted, and running games %s", rest)
                elif isinstance(item, Refused):
                    self._failure = item
                elif item is not None:
                    self._handle(item)
                self._look_up()
                self._answer_challenges()
            self._requests.put(None)
            while self._requester.is_alive():
                self._requester.join(_LOOK_UP)  # on Windows, Ctrl-C does not interrupt a wait
        finally:
            self._follower.close()
            for game in self._games.values():  # after an exception, games may still be running
                game.play.leave(resign=not game.slow)
            self._follower.join()
        if self._failure:
            raise self._failure

    def _make_requests(self) -> None:
        for request in iter(self._requests.get, None):
            try:
                request()
            except Exception:  # the next requests must be made
                logger.exception("a request failed")

    # --- ending ----------------------------------------------------------------------------------------------------

    def _ending(self) -> bool:
        """Return whether the bot will start no more games."""
        limit = self._settings.games
        return bool(self._interrupts or self._failure or (limit and len(self._seen) + len(self._expected) >= limit))

    def _leaves(self) -> bool:
        """Return whether the bot resigns running games."""
        return self._interrupts > 1 or bool(self._interrupts and self._settings.on_interrupt == "resign")

    def _look_up(self) -> None:
        """Drop games that have not started in time. After `interrupt`, leave correspondence games, which the next start
        continues, and resign the other games if required.
        """
        now = self._clock.now()
        for game_id in [each for each, game in self._expected.items() if game.until < now or self._leaves()]:
            logger.info("game %s: did not start", game_id)
            del self._expected[game_id]
        for game in self._games.values():
            if self._leaves() or (self._interrupts and game.slow):
                game.play.leave(resign=not game.slow)

    def _answer_challenges(self) -> None:
        """Accept the waiting challenges for which there is a place, and decline those that have waited long enough."""
        for challenge_id, challenge in list(self._waiting.items()):
            if self._ending() or challenge.until < self._clock.now():
                self._decline(challenge_id, challenge.name, DeclineReason.LATER)
            elif self._occupied(challenge.slow) < self._settings.concurrency:
                self._accept(challenge_id, challenge)

    # --- events ----------------------------------------------------------------------------------------------------

    def _handle(self, event: Json) -> None:
        kind = event.get("type")
        try:
            if kind == "challenge":
                self._on_challenge(event["challenge"])
            elif kind in ("challengeCanceled", "challengeDeclined"):
                challenge_id = _id(event["challenge"]["id"])
                self._waiting.pop(challenge_id, None)
                self._expected.pop(challenge_id, None)
            elif kind == "gameStart":
                self._on_game(event["game"])
        except Exception as error:  # no event may stop the bot, whatever it contains
            logger.warning("unexpected content of event %.40r (%s: %.80r)", kind, type(error).__name__, str(error))

    def _on_challenge(self, challenge: Json) -> None:
        challenge_id = _id(challenge["id"])
        known = any(challenge_id in each for each in (self._waiting, self._expected, self._seen, self._declined))
        challenger = challenge.get("challenger") or {}
        if known or challenger.get("id") == self._account_id or challenge.get("status", "created") != "created":
            return
        name = challenger.get("name") or "somebody"
        objection = self._settings.objection(challenge)
        if objection is None:
            self._waiting[challenge_id] = _Waiting(self._clock.now() + _PLACE_WITHIN, _is_slow(challenge), name)
        else:
            self._decline(challenge_id, name, objection)

    def _occupied(self, slow: bool) -> int:
        """Return the number of occupied places. Correspondence games have their own, because they last for weeks."""
        games: list[_Running | _Expected] = [*self._games.values(), *self._expected.values()]
        return sum(game.slow == slow for game in games)

    def _accept(self, challenge_id: str, challenge: _Waiting) -> None:
        del self._waiting[challenge_id]
        self._expected[challenge_id] = _Expected(math.inf, challenge.slow)

        def accept() -> None:
            if challenge_id not in self._expected:  # withdrawn, or the bot leaves
                return
            error = None
            try:
                self._lichess.accept(challenge_id)
            except Exception as caught:  # whatever it is, the place must become free
                error = caught
            self._inbox.put(_Acceptance(challenge_id, challenge, error))

        self._requests.put(accept)

    def _on_acceptance(self, answer: _Acceptance) -> None:
        """Expect the game of a challenge for a while. If it certainly will not start, but the challenge still exists,
        decline it.
        """
        challenge_id, challenge, error = answer.challenge_id, answer.challenge, answer.error
        if error is None:
            logger.info("challenge %s: accepted, from %s", challenge_id, challenge.name)
        else:
            logger.info("challenge %s: %s", challenge_id, error)
        if self._expected.pop(challenge_id, None) is None:  # the game has started, or the challenge was withdrawn
            return
        if isinstance(error, Limited) or (isinstance(error, Refused) and error.status != _NOT_FOUND):
            self._decline(challenge_id, challenge.name, DeclineReason.LATER)
            return
        # After an error, the challenge was withdrawn. Or the server accepted it, but the answer was lost: then its game
        # will start.
        seconds = _START_AFTER_DOUBT if error else _START_WITHIN
        self._expected[challenge_id] = _Expected(self._clock.now() + seconds, challenge.slow)

    def _decline(self, challenge_id: str, name: str, reason: DeclineReason) -> None:
        self._waiting.pop(challenge_id, None)
        self._declined.add(challenge_id)

        def decline() -> None:
            try:
                self._lichess.decline(challenge_id, reason)
                logger.info("challenge %s: declined, from %s: %s", challenge_id, name, reason)
            except (Refused, Unreachable) as error:
                logger.info("challenge %s: %s", challenge_id, error)

        self._requests.put(decline)

    def _on_game(self, game: Json) -> None:
        game_id = _id(game.get("gameId") or game["id"])
        self._expected.pop(game_id, None)
        if game_id in self._seen:
            return
        if not (game.get("compat") or {}).get("bot", True):
            logger.info("game %s: ignored, because bots may not play it", game_id)
            return
        variant = (game.get("variant") or {}).get("key", "standard")
        if variant not in VARIANTS:
            logger.warning("game %s: ignored, because the engine does not play %.40s", game_id, variant)
            return
        self._seen.add(game_id)
        account = self._account_id, self._account_name
        name = f"player of {game_id}"
        engine = None
        try:
            engine = self._engines.take()
            play = GamePlay(game_id, *account, self._lichess, engine, self._settings, self._lag, self._clock)
            thread = threading.Thread(target=self._play, args=(game_id, play, engine), name=name, daemon=True)
            thread.start()
        except Exception as error:  # the system has no memory for an engine, or no more threads
            if engine is not None:
                self._engines.give_back(engine)
            self._requests.put(partial(self._give_up, game_id, error))
            return
        self._games[game_id] = _Running(play, thread, _is_slow(game))

    def _play(self, game_id: str, play: GamePlay, engine: Engine) -> None:
        try:
            play.run()
        except Exception as error:  # a failure in one game must not stop the other games
            self._give_up(game_id, error)
        finally:
            self._engines.give_back(engine)
            self._inbox.put(_GameDone(game_id))

    def _give_up(self, game_id: str, error: Exception) -> None:
        """Resign a game that cannot be played, so that the opponent need not wait for the bot's flag to fall."""
        known = isinstance(error, EngineError)
        reason = error if known else repr(error)
        logger.error("game %s: given up: %s", game_id, reason, exc_info=None if known else error)
        with contextlib.suppress(Refused, Unreachable):
            self._lichess.resign(game_id)


def _is_slow(described: Json) -> bool:
    """Return whether a challenge or game is by correspondence."""
    return described.get("speed") == "correspondence"


def _id(value: object) -> str:
    """Return the id of a game or challenge, which becomes part of URLs; ValueError if it is invalid."""
    if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z0-9_-]{1,40}", value):
        raise ValueError(f"{value!r:.40} is not an id")
    return value
