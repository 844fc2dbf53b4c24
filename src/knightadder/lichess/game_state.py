"""A game as described by its stream: the constant part and the changing part."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import chess

from knightadder.lichess.api_errors import Unreachable
from knightadder.rules import read_fen

RUNNING = frozenset({"created", "started"})  # the statuses of a game that has not ended
_MOST_MS = 10**12  # maximum time on a clock, in milliseconds: about thirty years
_NAMES = {"white": chess.WHITE, "black": chess.BLACK}


@dataclass(frozen=True, slots=True)
class GameState:
    """The state of a game: all moves so far in UCI notation, and the seconds on both clocks and of both increments.
    `status` is ``started``, ``mate``, ``resign`` and so on. The offers are the colours that offer a draw or a takeback.
    """

    moves: tuple[str, ...]
    clocks: tuple[float, float]
    increments: tuple[float, float]
    status: str
    winner: chess.Color | None
    draw_offers: frozenset[chess.Color]
    takeback_offers: frozenset[chess.Color]

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.status not in RUNNING


@dataclass(frozen=True, slots=True)
class GameInfo:
    """The constant part of a game: the bot's side, the opponent, Lichess's variant and speed, the first position."""

    colour: chess.Color
    variant: str
    speed: str
    opponent: str
    start: chess.Board

    def board(self, state: GameState) -> chess.Board:
        """Return the position of a state, with the moves that led to it; Unreachable if a move is not legal."""
        board = self.start.copy()
        try:
            for move in state.moves:
                if not board.push_uci(move):
                    raise ValueError("a null move")
        except ValueError:
            raise Unreachable(f"the game has a move that is not legal: {move}") from None
        return board

    def my_turn(self, state: GameState) -> bool:
        """Return whether the bot is to move."""
        return not state.over and (self.start.turn == self.colour) == (len(state.moves) % 2 == 0)


def read_info(event: Mapping[str, Any], account_id: str) -> GameInfo:
    """Read the event ``gameFull``, except for its state; Unreachable if the event is not as documented."""
    try:
        colour = event["black"].get("id") != account_id  # chess.WHITE is True
        opponent = event["black" if colour else "white"]
        variant, fen = _text(event["variant"]["key"]), _text(event["initialFen"])
        return GameInfo(
            colour=colour,
            variant=variant,
            speed=_text(event["speed"]),
            opponent=str(opponent.get("name") or f"Lichess AI level {opponent.get('aiLevel')}"),
            # People may enter positions with impossible castling rights and en passant squares, which are left out.
            start=read_fen(chess.STARTING_FEN if fen == "startpos" else fen, variant == "chess960")[0],
        )
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise Unreachable(f"unexpected description of the game ({type(error).__name__}: {error})") from None


def read_state(event: Mapping[str, Any]) -> GameState:
    """Read the event ``gameState``, or the state within ``gameFull``; Unreachable if the event is not as documented."""
    try:
        return GameState(
            moves=tuple(_text(event["moves"]).split()),
            clocks=(_seconds(event["wtime"]), _seconds(event["btime"])),
            increments=(_seconds(event["winc"]), _seconds(event["binc"])),
            status=_text(event["status"]),
            winner=_NAMES.get(event.get("winner", "")),
            draw_offers=frozenset(_NAMES[name] for name in _NAMES if event.get(f"{name[0]}draw")),
            takeback_offers=frozenset(_NAMES[name] for name in _NAMES if event.get(f"{name[0]}takeback")),
        )
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise Unreachable(f"unexpected description of the game's state ({type(error).__name__}: {error})") from None


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.40} is not a text")
    return value


def _seconds(milliseconds: object) -> float:
    if type(milliseconds) not in (int, float) or not -_MOST_MS <= milliseconds <= _MOST_MS:  # type: ignore[operator]
        raise ValueError(f"{milliseconds!r:.40} is not a time")
    return milliseconds / 1000  # type: ignore[operator]
