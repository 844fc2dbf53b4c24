"""The overhead of a move, and the limit of a search."""

import chess.engine

from knightadder.lichess.game_state import GameInfo, GameState

_MOST_OVERHEAD_MS = 5000  # maximum of the option `Move Overhead`
_LEAST_CLOCK = 0.01

# Maximum share of the clock, and maximum seconds, for a side's first move. The clocks do not run until both sides have
# moved, but the game is aborted after half a minute without a move.
_FIRST_MOVE_SHARE = 1 / 20
_LONGEST_FIRST_MOVE = 5.0


class Lag:
    """Estimates the network delay of a move, as TCP estimates round trips (RFC 6298); the estimate has a minimum.
    The time of a request covers both ways: from the opponent's move to the bot, and the bot's answer back.
    """

    def __init__(self, least_ms: int) -> None:
        self._least_ms = least_ms
        self._mean: float | None = None
        self._deviation = 0.0

    def note(self, seconds: float) -> None:
        """Take the time of a request into account."""
        if self._mean is None:
            self._mean, self._deviation = seconds, seconds / 2
        else:
            self._deviation += (abs(self._mean - seconds) - self._deviation) / 4
            self._mean += (seconds - self._mean) / 8

    def overhead_ms(self) -> int:
        """Return an overhead that hardly any move exceeds: the mean plus four mean deviations, in milliseconds."""
        measured = 0.0 if self._mean is None else (self._mean + 4 * self._deviation) * 1000
        return round(min(max(measured, self._least_ms), _MOST_OVERHEAD_MS))


def limit_of(
    info: GameInfo, state: GameState, late: float, correspondence_seconds: float, nodes: int | None
) -> chess.engine.Limit:
    """Return the limit of the search for a move of the bot; `nodes` is a limit in addition to the clock.
    `late` is the number of seconds since the state arrived, which have passed on the bot's clock.
    """
    white, black = state.clocks
    own = white if info.colour == chess.WHITE else black
    if info.speed == "correspondence":  # little time may be left if the bot was not running
        left = max(own - late, _LEAST_CLOCK) / 2
        return chess.engine.Limit(time=min(correspondence_seconds, left), nodes=nodes)
    if len(state.moves) < 2:
        return chess.engine.Limit(time=min(own * _FIRST_MOVE_SHARE, _LONGEST_FIRST_MOVE), nodes=nodes)
    own = max(own - late, _LEAST_CLOCK)
    white, black = (own, black) if info.colour == chess.WHITE else (white, own)
    return chess.engine.Limit(
        white_clock=white,
        black_clock=black,
        white_inc=state.increments[0],
        black_inc=state.increments[1],
        nodes=nodes,
    )
