"""The messages that a page may send to the server: JSON objects with a ``type``, read into dataclasses or refused.

The type and the bounds of each field are checked only here. What depends on the position, such as whether a move is
legal, is checked where the position is known.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, TypeAlias, TypeVar

from knightadder.engine.errors import EngineError
from knightadder.engine.strength import MAX_ELO, MIN_ELO

MAX_CHARACTERS = 512 * 1024  # in a message; the longest messages hold a PGN
MAX_LINES = 5
_MAX_FEN = 200
_MAX_SECONDS = 24 * 3600

Check: TypeAlias = Callable[[Any], bool]
_T = TypeVar("_T")


class MessageError(EngineError):
    """A message is refused; the text says why."""


def _checked(check: Check, expected: str, default: Any = MISSING) -> Any:
    return field(default=default, metadata={"check": check, "expected": expected})


def _whole(low: int, high: int, **default: Any) -> Any:
    return _checked(lambda v: type(v) is int and low <= v <= high, f"a whole number from {low} to {high}", **default)


def _number(low: float, high: float, **default: Any) -> Any:
    return _checked(lambda v: type(v) in (int, float) and low <= v <= high, f"a number from {low} to {high}", **default)


def _text(longest: int, **default: Any) -> Any:
    return _checked(
        lambda v: isinstance(v, str) and len(v) <= longest, f"a text of at most {longest} letters", **default
    )


def _word(*words: str, **default: Any) -> Any:
    return _checked(lambda v: isinstance(v, str) and v in words, " or ".join(words), **default)


def _node() -> Any:
    return _whole(0, 10**9)


def _moves() -> Any:
    def check(value: Any) -> bool:
        return isinstance(value, list) and 0 < len(value) <= 64 and all(type(v) is str and len(v) <= 5 for v in value)

    return _checked(check, "a list of moves")


def _or_none(spec: Any) -> Any:
    """Return the specification, extended so that the field may also be missing or null."""
    check = spec.metadata["check"]
    return _checked(lambda v: v is None or check(v), spec.metadata["expected"], None)


@dataclass(frozen=True, slots=True)
class NewGame:
    """Start a game.

    Attributes
    ----------
    color : str
        The user's side, ``white``, ``black`` or ``random``.
    elo : int or None
        The engine's strength; None for full strength.
    initial, increment : float or None
        The clock in seconds; None for no clock.
    move_time : float
        Seconds per move of the engine when there is no clock.
    start : str
        ``standard``, ``chess960``, or ``here`` for the position on the board.
    number : int or None
        Number of the start position of Chess960; None for a random one.
    """

    color: str = _word("white", "black", "random")
    elo: int | None = _or_none(_whole(MIN_ELO, MAX_ELO))
    initial: float | None = _or_none(_number(1, _MAX_SECONDS))
    increment: float = _number(0, 3600, default=0.0)
    move_time: float = _number(0.05, 600, default=1.0)
    start: str = _word("standard", "chess960", "here", default="standard")
    number: int | None = _or_none(_whole(0, 959))


@dataclass(frozen=True, slots=True)
class Play:
    """Play a move from a node of the tree: in UCI's notation or as SAN."""

    node: int = _node()
    move: str = _text(16)


@dataclass(frozen=True, slots=True)
class PlayLine:
    """Add moves, in UCI's notation, as a variation and show its end."""

    node: int = _node()
    moves: Sequence[str] = _moves()


@dataclass(frozen=True, slots=True)
class Preview:
    """Ask for the position after these moves."""

    node: int = _node()
    moves: Sequence[str] = _moves()


@dataclass(frozen=True, slots=True)
class TakeBack:
    """Take back the user's last move and the engine's reply."""


@dataclass(frozen=True, slots=True)
class Resign:
    """Resign the game."""


@dataclass(frozen=True, slots=True)
class OfferDraw:
    """Offer a draw."""


@dataclass(frozen=True, slots=True)
class GoTo:
    """Show the position of this node."""

    node: int = _node()


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete this move and all moves after it."""

    node: int = _node()


@dataclass(frozen=True, slots=True)
class Promote:
    """Make the variation of this move the main line."""

    node: int = _node()


@dataclass(frozen=True, slots=True)
class Analyse:
    """Turn the analysis on or off, with this number of lines."""

    on: bool = _checked(lambda v: isinstance(v, bool), "true or false")
    lines: int = _whole(1, MAX_LINES, default=1)


@dataclass(frozen=True, slots=True)
class Evaluate:
    """Evaluate each position of the line on the board, for the graph."""


@dataclass(frozen=True, slots=True)
class LoadFen:
    """Set up a position."""

    fen: str = _text(_MAX_FEN)


@dataclass(frozen=True, slots=True)
class CheckFen:
    """Ask whether a position is legal."""

    fen: str = _text(_MAX_FEN)


@dataclass(frozen=True, slots=True)
class LoadPgn:
    """Load a game from a PGN, the first by default."""

    pgn: str = _text(MAX_CHARACTERS)
    index: int = _whole(0, 10**6, default=0)


Message: TypeAlias = (
    NewGame
    | Play
    | PlayLine
    | Preview
    | TakeBack
    | Resign
    | OfferDraw
    | GoTo
    | Delete
    | Promote
    | Analyse
    | Evaluate
    | LoadFen
    | CheckFen
    | LoadPgn
)

_TYPES: dict[str, type[Message]] = {
    "new_game": NewGame,
    "play": Play,
    "play_line": PlayLine,
    "preview": Preview,
    "take_back": TakeBack,
    "resign": Resign,
    "offer_draw": OfferDraw,
    "go_to": GoTo,
    "delete": Delete,
    "promote": Promote,
    "analyse": Analyse,
    "evaluate": Evaluate,
    "load_fen": LoadFen,
    "check_fen": CheckFen,
    "load_pgn": LoadPgn,
}


def parse(text: str) -> Message:
    """Return the message that the text describes.

    Raises
    ------
    MessageError
        If it is too long, not a JSON object, of unknown type, or has a missing, unknown or out-of-bounds field.
    """
    if len(text) > MAX_CHARACTERS:
        raise MessageError(f"message longer than {MAX_CHARACTERS} characters")
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise MessageError("message is not JSON") from None
    if not isinstance(content, dict):
        raise MessageError("message is not a JSON object")
    name = content.pop("type", None)
    message_type = _TYPES.get(name) if isinstance(name, str) else None
    if message_type is None:
        raise MessageError(f"unknown type of message: {_short(name)}")
    return _build(message_type, str(name), content)


def _build(message_type: type[_T], name: str, content: dict[str, Any]) -> _T:
    declared = {each.name: each for each in fields(message_type)}  # type: ignore[arg-type]
    for key in content:
        if key not in declared:
            raise MessageError(f"{name}: unknown field {_short(key)}")
    for key, each in declared.items():
        if key not in content:
            if each.default is MISSING:
                raise MessageError(f"{name}: {key} is missing")
        elif not each.metadata["check"](content[key]):
            raise MessageError(f"{name}: {key} must be {each.metadata['expected']}, not {_short(content[key])}")
    return message_type(**content)


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else text[:40] + "…"
