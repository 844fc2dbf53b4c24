"""A game against the engine: the user's side, the clock, the state of the game and its result."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import chess
import chess.engine
import chess.pgn

from knightadder.engine.info import Score
from knightadder.engine.settlement import Settlement
from knightadder.rules import outcome_of
from knightadder.web.clock import ChessClock

if TYPE_CHECKING:
    from knightadder.web.moments import Moment

_REASONS = {
    chess.Termination.CHECKMATE: "Checkmate",
    chess.Termination.STALEMATE: "Stalemate",
    chess.Termination.INSUFFICIENT_MATERIAL: "Neither side can mate",
    chess.Termination.THREEFOLD_REPETITION: "Threefold repetition",
    chess.Termination.FIFTY_MOVES: "Fifty moves without a capture or a pawn move",
}

# The pause of a weakened engine is log-normal, as people's thinking times are. The parameters are our own choice.
_PAUSE, _PAUSE_SPREAD = 1.8, 0.7  # median in seconds; standard deviation of the logarithm
_LONGEST_PAUSE = 8.0  # seconds
_PAUSE_CLOCK_SHARE = 0.02  # the longest pause, as a share of the engine's remaining time
_OBVIOUS_SHARE = 0.4  # pause for a recapture or the only legal move, as a share of the usual pause


@dataclass(slots=True)
class PlayedGame:
    """A game of the user against the engine."""

    user: chess.Color  # the user's side
    elo: int | None  # the engine's strength; None for full strength
    clock: ChessClock | None
    move_time: float  # seconds per move of the engine, without a clock
    start_ply: int  # moves before this ply cannot be taken back
    pace: bool = False  # whether a weakened engine waits before it moves
    result: str = "*"  # in PGN's notation; * while the game runs
    reason: str = ""
    settlement: Settlement = field(default_factory=Settlement)  # makes the engine's decisions about draws
    draw_offered: bool = False  # whether the engine offered a draw with its last move
    moments: list[Moment] | None = None  # the user's moves that decided the game; None until they are found

    @property
    def running(self) -> bool:
        """Whether the game has not ended."""
        return self.result == "*"

    @property
    def opponent(self) -> str:
        """The engine's name, with its strength if that is limited."""
        return "Knightadder" if self.elo is None else f"Knightadder ({self.elo})"

    def limit(self) -> chess.engine.Limit:
        """Return the limits of the engine's next search."""
        if self.clock is None:
            return chess.engine.Limit(time=self.move_time)
        return chess.engine.Limit(
            white_clock=self.clock.remaining(chess.WHITE),
            black_clock=self.clock.remaining(chess.BLACK),
            white_inc=self.clock.increment,
            black_inc=self.clock.increment,
        )

    def pause(self, board: chess.Board, move: chess.Move) -> float:
        """Return how many seconds a weakened engine waits before it plays the move that it has found."""
        if not self.pace or self.elo is None:
            return 0.0
        seconds = min(random.lognormvariate(math.log(_PAUSE), _PAUSE_SPREAD), _LONGEST_PAUSE)
        last = board.move_stack[-1].to_square if board.move_stack else None
        if move.to_square == last or board.legal_moves.count() == 1:
            seconds *= _OBVIOUS_SHARE
        if self.clock is not None:
            seconds = min(seconds, self.clock.remaining(board.turn) * _PAUSE_CLOCK_SHARE)
        return seconds

    def finish(self, result: str, reason: str) -> None:
        """End the game with this result."""
        self.result = result
        self.reason = reason
        if self.clock is not None:
            self.clock.stop()

    def again(self) -> PlayedGame:
        """Return a game with the same sides, strength and time control, at its beginning."""
        clock = self.clock and ChessClock(self.clock.initial, self.clock.increment)
        return PlayedGame(self.user, self.elo, clock, self.move_time, self.start_ply, self.pace)

    def resume_from(self, node: chess.pgn.GameNode) -> None:
        """Continue the game from one of its nodes, with the clock times of that node."""
        self.result, self.reason = "*", ""
        self.settlement.reset()
        self.draw_offered = False
        if self.clock is None:
            return
        self.clock.stop()
        seconds = dict.fromkeys(chess.COLORS, self.clock.initial)
        last: chess.pgn.GameNode | None = node
        known: set[chess.Color] = set()
        while last is not None and last.ply() > self.start_ply:
            mover, left = not last.turn(), last.clock()
            if mover not in known and left is not None:
                seconds[mover] = left
            known.add(mover)
            last = last.parent
        for color in chess.COLORS:
            self.clock.set(color, seconds[color])

    def resign(self) -> None:
        """End the game: the user resigns."""
        self.finish(win_of(not self.user), f"{color_name(self.user)} resigned")

    def settle(self, board: chess.Board) -> None:
        """End the game at mate or a draw. Threefold repetition and the fifty-move rule apply without a claim."""
        outcome = outcome_of(board)
        if outcome is not None:
            self.finish(outcome.result(), reason_of(outcome))

    def out_of_time(self, board: chess.Board) -> bool:
        """End the game if the side to move has run out of time; return whether it has."""
        loser = board.turn
        if not self.running or self.clock is None or self.clock.remaining(loser) > 0:
            return False
        if board.has_insufficient_material(not loser):
            self.finish("1/2-1/2", f"{color_name(loser)} ran out of time, but {color_name(not loser)} cannot mate")
        else:
            self.finish(win_of(not loser), f"{color_name(loser)} ran out of time")
        return True

    def note_score(self, score: chess.engine.PovScore, move_number: int) -> None:
        """Record the engine's score and the number of its last move; decide whether it offers a draw with this move."""
        own = score.pov(not self.user)
        self.settlement.note(Score(own.score(), own.mate()), move_number)
        self.draw_offered = self.settlement.offers_draw()

    def accepts_draw(self, board: chess.Board) -> bool:
        """Return whether the engine accepts a draw that the user offers in this position."""
        cannot_win = board.has_insufficient_material(not self.user)
        return self.draw_offered or cannot_win or self.settlement.accepts_draw()


def reason_of(outcome: chess.Outcome) -> str:
    """Return how the game ended, for the user."""
    return _REASONS[outcome.termination]


def color_name(color: chess.Color) -> str:
    """Return the side's name, capitalised."""
    return "White" if color else "Black"


def win_of(color: chess.Color) -> str:
    """Return the result of a game that this side wins."""
    return "1-0" if color else "0-1"
