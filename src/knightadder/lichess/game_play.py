"""One game: reads the events of its stream and sends moves.

A move is sent once. If the answer is lost, it is unknown whether the move arrived, so the stream is reopened. The first
event of the new stream lists all moves, and the move is sent again only if it is not in the list. If the first copy
then arrives late, the server refuses it: at first the opponent is to move, and later the piece is no longer on the
move's from-square.
"""

import contextlib
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from queue import SimpleQueue
from typing import Any, TypeAlias

import chess
import chess.engine

from knightadder.engine.errors import EngineError
from knightadder.engine.info import Score
from knightadder.engine.settlement import Settlement
from knightadder.library.board_engine import Engine
from knightadder.library.results import PlayResult
from knightadder.lichess.api_errors import Refused, Unreachable
from knightadder.lichess.bot_api import Lichess
from knightadder.lichess.event_stream import Follower
from knightadder.lichess.game_state import RUNNING, GameInfo, GameState, read_info, read_state
from knightadder.lichess.settings import BotSettings
from knightadder.lichess.timers import Timer
from knightadder.lichess.timing import Lag, limit_of

Json: TypeAlias = dict[str, Any]

logger = logging.getLogger(__name__)

_MOST_REFUSALS = 3  # number of refusals of one move after which the bot resigns
_MOST_CLAIM = 86_400.0  # maximum seconds until victory can be claimed; larger values are invalid
_CLAIM_AGAIN = 30.0  # seconds to wait after a refused claim
# The engine receives a new lag only if the lag has changed by one of these factors, because setting it stops pondering.
_OVERHEAD_FALL, _OVERHEAD_GROWTH = 0.5, 1.25


@dataclass(frozen=True, slots=True)
class _Arrival:
    """An event or the refusal of the stream, with the connection's number and the time of arrival."""

    event: Json | Refused
    connection: int
    time: float


@dataclass(frozen=True, slots=True)
class _Answer:
    moves: tuple[str, ...]
    move: str
    offer_draw: bool
    refusals: int = 0


class GamePlay:
    """Plays a game to its end; all games share the `Lag`. The bot's id gives its side; `name` is for the greeting."""

    def __init__(
        self,
        game_id: str,
        account_id: str,
        account_name: str,
        lichess: Lichess,
        engine: Engine,
        settings: BotSettings,
        lag: Lag,
        clock: Timer,
    ) -> None:
        self._id, self._account_id, self._account_name = game_id, account_id, account_name
        self._lichess, self._engine, self._settings, self._lag, self._clock = lichess, engine, settings, lag, clock
        self._inbox: SimpleQueue[_Arrival | None] = SimpleQueue()
        self._follower = Follower(f"game {game_id}", partial(lichess.game, game_id), self._deliver, clock)
        self._leaving = threading.Event()
        self._resigning = True  # whether the bot resigns the game if it does not play on
        self._ended = threading.Event()  # set once the stream has reported the end of the game
        self._done = False

        self._info: GameInfo | None = None
        self._state: GameState | None = None
        self._latest: Json = {}  # the last state that arrived, even if it still waits in the inbox
        self._distrusted = 0  # events of connections with this number or a lower one are out of date
        self._answered: tuple[str, ...] | None = None  # the moves before the bot's last move
        self._unsure: _Answer | None = None  # a move that may or may not have arrived
        self._missed: tuple[str, ...] | None = None  # the moves in the last full description without the bot's move
        self._abort_at: float | None = None
        self._claim_at: float | None = None
        self._replied: tuple[str, ...] | None = None  # the moves before the last offer that was answered
        self._overhead_ms = 0
        self._settlement = Settlement()
        for name, value in settings.settlement().items():
            self._settlement.set(name, str(value))

    def run(self) -> None:
        """Play until the game is over or the bot leaves it."""
        self._follower.start()
        try:
            self._engine.new_game()
            self._tell_overhead()
            while not self._done:
                arrival = self._clock.get(self._inbox, self._patience())
                if self._leaving.is_set():
                    self._give_up("left")
                elif arrival is None:
                    self._act_on_deadlines()
                else:
                    self._take(arrival)
        except EngineError as error:
            logger.error("game %s: %s", self._id, error)
            self._give_up("the engine has failed")
        finally:
            self._follower.close()
            self._engine.stop()
            self._follower.join()

    def leave(self, resign: bool = True) -> None:
        """End `run`, and resign the game, or abort it if no move has been made; without `resign`, the game goes on.
        Any thread may call this, and repeatedly.
        """
        self._resigning = resign
        self._leaving.set()
        self._engine.stop()
        self._inbox.put(None)

    # --- incoming events -------------------------------------------------------------------------------------------

    def _deliver(self, event: Json | Refused, connection: int) -> None:
        """Receive an event, in the stream's thread; the end of the game also stops the engine's search."""
        if not isinstance(event, Refused):
            state = event.get("state", event)
            if isinstance(state, dict) and "moves" in state:
                self._latest = state
            status = state.get("status") if isinstance(state, dict) else None
            if isinstance(status, str) and status not in RUNNING:
                self._ended.set()
                self._engine.stop()
        self._inbox.put(_Arrival(event, connection, self._clock.now()))

    def _take(self, arrival: _Arrival) -> None:
        event = arrival.event
        if isinstance(event, Refused):
            logger.warning("game %s: %s", self._id, event)
            self._done = True
            return
        if arrival.connection <= self._distrusted:
            return
        try:
            kind = event.get("type")
            if kind == "gameFull":
                self._begin(read_info(event, self._account_id), event, arrival.time)
            elif kind == "gameState" and self._info:
                self._on_state(self._info, read_state(event), arrival.time)
            elif kind == "opponentGone":
                self._on_absence(event)
            elif kind == "chatLine":
                logger.debug("game %s: %s says %r", self._id, event.get("username"), event.get("text"))
        except Unreachable as error:
            logger.warning("game %s: %s", self._id, error)
            self._resynchronise()

    def _begin(self, info: GameInfo, event: Json, arrived: float) -> None:
        """Handle the description of the whole game, at the game's beginning or after a reconnection."""
        state = read_state(event.get("state") or {})
        first, self._info = self._info is None, info
        if first:
            colour = "White" if info.colour == chess.WHITE else "Black"
            logger.info("game %s: %s against %s, %s %s", self._id, colour, info.opponent, info.speed, info.variant)
            if not state.over and len(state.moves) < 2:
                self._say(self._settings.greeting, info)
        if info.my_turn(state) and state.moves == self._answered:
            if self._missed != state.moves:  # the description may have been sent before the move was made
                self._missed = state.moves
                self._resynchronise()
                return
            logger.warning("game %s: the server has lost the last move", self._id)
            self._answered = None
        self._on_state(info, state, arrived)

    def _on_state(self, info: GameInfo, state: GameState, arrived: float) -> None:
        before, self._state = self._state, state
        if before and len(state.moves) < len(before.moves):
            self._answered = None  # moves were taken back
        if not before or state.moves != before.moves:
            self._abort_at = self._claim_at = None
        if state.over:
            self._finish(info, state)
            return
        unsure, self._unsure = self._unsure, None
        if unsure and unsure.moves == state.moves:
            self._send(unsure)
            return
        if unsure:
            logger.info("game %s: the move %s had arrived", self._id, unsure.move)
        self._answer_offers(info, state)
        if not info.my_turn(state):
            if len(state.moves) < 2 and self._abort_at is None and info.speed != "correspondence":
                self._abort_at = self._clock.now() + self._settings.abort_after
        elif state.moves != self._answered:
            self._think(info, state, arrived)

    def _answer_offers(self, info: GameInfo, state: GameState) -> None:
        """Decline takebacks, and accept draws; if it is the bot's turn, `_think` answers draw offers instead."""
        if self._replied == state.moves:
            return
        opponent = not info.colour
        if opponent in state.takeback_offers:
            self._replied = state.moves
            self._try("declined to take back", lambda: self._lichess.decline_takeback(self._id))
        if opponent in state.draw_offers and not info.my_turn(state) and self._settlement.accepts_draw():
            self._replied = state.moves
            self._try("accepted a draw", lambda: self._lichess.accept_draw(self._id))

    def _on_absence(self, event: Json) -> None:
        seconds = event.get("claimWinInSeconds")
        if event.get("gone") and isinstance(seconds, int | float) and 0 <= seconds <= _MOST_CLAIM:
            self._claim_at = self._clock.now() + seconds
        else:
            self._claim_at = None

    def _finish(self, info: GameInfo, state: GameState) -> None:
        result = "drawn" if state.winner is None else "won" if state.winner == info.colour else "lost"
        if state.status in ("aborted", "noStart"):
            result = "without result"
        logger.info(
            "game %s: over, %s (%s) against %s after %d plies",
            self._id,
            result,
            state.status,
            info.opponent,
            len(state.moves),
        )
        self._done = True
        if len(state.moves) >= 2:
            self._say(self._settings.goodbye, info)

    # --- deadlines -------------------------------------------------------------------------------------------------

    def _patience(self) -> float | None:
        """Return the seconds until the next deadline; None without deadlines."""
        deadlines = [time for time in (self._abort_at, self._claim_at) if time is not None]
        return max(min(deadlines) - self._clock.now(), 0) if deadlines else None

    def _act_on_deadlines(self) -> None:
        now = self._clock.now()
        if self._abort_at is not None and now >= self._abort_at:
            self._abort_at = None
            self._try("aborted, as the opponent did not start", lambda: self._lichess.abort(self._id))
            self._resynchronise()
        if self._claim_at is not None and now >= self._claim_at:
            self._claim_at = now + _CLAIM_AGAIN
            self._try("claimed victory, as the opponent has left", lambda: self._lichess.claim_victory(self._id))

    # --- moves -----------------------------------------------------------------------------------------------------

    def _think(self, info: GameInfo, state: GameState, arrived: float) -> None:
        if self._ended.is_set():  # the game ended while this thread waited for an answer
            return
        settings = self._settings
        board = info.board(state)
        told = self._overhead_ms
        if not told * _OVERHEAD_FALL <= self._lag.overhead_ms() <= told * _OVERHEAD_GROWTH:
            self._tell_overhead()
        limit = limit_of(
            info, state, self._clock.now() - arrived, settings.correspondence_seconds, settings.nodes or None
        )
        ponder = settings.ponder and info.speed != "correspondence" and len(state.moves) >= 2
        result = self._engine.play(board, limit, ponder=ponder)
        if self._leaving.is_set() or self._ended.is_set():
            return
        if result.move is None:
            logger.warning("game %s: the engine found no move, but the game is not over", self._id)
            return
        self._note_score(result, board, info.colour)
        if self._settlement.resigns():
            self._try("resigned", lambda: self._lichess.resign(self._id))
            self._resynchronise()  # if the game has not ended, it is the bot's turn again
            return
        answer = _Answer(state.moves, board.uci(result.move), self._settlement.offers_draw())
        offered = self._is_offered_draw(info, state)
        if (offered and self._settlement.accepts_draw()) or self._claims_repetition(board, result):
            self._try("took a draw", lambda: self._lichess.accept_draw(self._id))
            self._unsure = answer  # the stream shows whether this ended the game
            self._resynchronise()
        else:
            self._send(answer)

    def _send(self, answer: _Answer) -> None:
        try:
            seconds = self._lichess.move(self._id, answer.move, answer.offer_draw)
        except Unreachable as error:
            logger.info("game %s: %s; the stream will show whether the server has %s", self._id, error, answer.move)
            self._unsure = answer
            self._resynchronise()
        except Refused as error:
            if self._ended.is_set():
                return
            logger.warning("game %s: move %s: %s", self._id, answer.move, error)
            if answer.refusals + 1 == _MOST_REFUSALS:
                self._give_up("the server refuses all moves")
                return
            self._unsure = replace(answer, refusals=answer.refusals + 1)
            self._resynchronise()
        else:
            self._lag.note(seconds)
            self._answered = answer.moves
            logger.debug("game %s: %s, in %.0f ms", self._id, answer.move, seconds * 1000)

    def _note_score(self, result: PlayResult, board: chess.Board, colour: chess.Color) -> None:
        score = result.line.score.pov(colour)
        mate = score.mate()
        noted = Score(cp=score.score()) if mate is None else Score(mate=mate)
        self._settlement.note(noted, board.fullmove_number)

    def _is_offered_draw(self, info: GameInfo, state: GameState) -> bool:
        """Return whether the opponent offers a draw; the offer may have come while the bot was thinking."""
        offers = state.draw_offers
        with contextlib.suppress(Unreachable):
            latest = read_state(self._latest)
            if latest.moves == state.moves:
                offers = latest.draw_offers
        return (not info.colour) in offers

    def _claims_repetition(self, board: chess.Board, result: PlayResult) -> bool:
        """Return whether the side to move can claim a draw by threefold repetition and has nothing better."""
        score = result.line.score.pov(board.turn)
        return board.is_repetition(3) and score <= chess.engine.Cp(0)

    # --- small helpers ---------------------------------------------------------------------------------------------

    def _resynchronise(self) -> None:
        """Ask for a new description of the whole game, and ignore all earlier events."""
        self._distrusted = self._follower.reconnect()

    def _tell_overhead(self) -> None:
        self._overhead_ms = self._lag.overhead_ms()
        self._engine.configure({"Move Overhead": self._overhead_ms})

    def _give_up(self, reason: str) -> None:
        self._done = True
        if self._resigning:
            self._try(f"given up: {reason}", lambda: self._lichess.resign(self._id))
        else:
            logger.info("game %s: left; the next start of the bot continues it", self._id)

    def _say(self, text: str, info: GameInfo) -> None:
        if text:
            said = text.replace("{opponent}", info.opponent).replace("{me}", self._account_name)
            try:
                self._lichess.chat(self._id, said)
            except EngineError as error:
                logger.debug("game %s: chat: %s", self._id, error)

    def _try(self, what: str, request: Callable[[], None]) -> None:
        """Make a request that may be refused, and log the outcome."""
        try:
            request()
            logger.info("game %s: %s", self._id, what)
        except (Refused, Unreachable) as error:
            logger.warning("game %s: %s: %s", self._id, what, error)
