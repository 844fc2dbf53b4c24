"""The messages that a page may send to the server: JSON objects with a ``type``, read by msgspec or refused.

The type and the bounds of each field are checked only here. Conditions that depend on the position, such as whether a
move is legal, are checked where the position is known.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal, TypeAlias

from msgspec import DecodeError, Meta, Struct
from msgspec.json import Decoder

from knightadder.engine.errors import EngineError
from knightadder.engine.strength import MAX_ELO, MIN_ELO

FULL_NODES = 200_000  # nodes for each position of an evaluated game, as `annotate` searches by default
MAX_PGN = 512 * 1024  # bytes
_MAX_EDITED = 8 * 1024 * 1024  # bytes of edited games that a tab can restore: enough for 20,000 moves with comments
MAX_MESSAGE = _MAX_EDITED + 6 * MAX_PGN  # bytes; a PGN in UTF-16 has null bytes, each of which takes six bytes in JSON
MAX_LINES = 10
MAX_COMMENT = MAX_PGN  # characters; a loaded game may have a comment of that length
_LONGEST_COMPLAINT = 120  # characters; limited because a complaint may quote the message

_Node: TypeAlias = Annotated[int, Meta(ge=0, le=10**9)]
_Index: TypeAlias = Annotated[int, Meta(ge=0, le=10**6)]
_Fen: TypeAlias = Annotated[str, Meta(max_length=200)]
_Whole: TypeAlias = Annotated[int, Meta(ge=0, le=2**62)]
_Moves: TypeAlias = Annotated[list[Annotated[str, Meta(max_length=5)]], Meta(min_length=1, max_length=64)]


class MessageError(EngineError):
    """The refusal of a message; the text says why."""


def _type_of(name: str) -> str:
    """Return the ``type`` of a class of messages: ``new_game`` for ``NewGame``."""
    return re.sub(r"\B(?=[A-Z])", "_", name).lower()


class _Message(Struct, forbid_unknown_fields=True, tag_field="type", tag=_type_of):
    """A message; the name of its class is its type."""


class NewGame(_Message):
    """Start a game, with the user's side as ``white``, ``black`` or ``random``.

    `elo` is the engine's strength, None for full strength. Without a clock (`initial` and `increment` in seconds),
    the engine has `move_time` seconds per move. `start` is ``standard``, ``chess960``, or ``here`` for the position on
    the board; `number` is the number of a Chess960 start position, None for a random one. With `pace`, a weakened
    engine waits as long as a person might think.
    """

    color: Literal["white", "black", "random"]
    elo: Annotated[int, Meta(ge=MIN_ELO, le=MAX_ELO)] | None = None
    initial: Annotated[float, Meta(ge=1, le=24 * 3600)] | None = None
    increment: Annotated[float, Meta(ge=0, le=3600)] = 0.0
    move_time: Annotated[float, Meta(ge=0.05, le=600)] = 1.0
    start: Literal["standard", "chess960", "here"] = "standard"
    number: Annotated[int, Meta(ge=0, le=959)] | None = None
    pace: bool = False


class Play(_Message):
    """Play a move from a node of the tree: in UCI's notation or as SAN."""

    node: _Node
    move: Annotated[str, Meta(max_length=16)]


class PlayLine(_Message):
    """Add moves, in UCI's notation, as a variation and show its end."""

    node: _Node
    moves: _Moves


class Preview(_Message):
    """Ask for the position after these moves."""

    node: _Node
    moves: _Moves


class TakeBack(_Message):
    """Take back the user's last move and the engine's reply."""


class Resign(_Message):
    """Resign the game."""


class OfferDraw(_Message):
    """Offer a draw."""


class Hint(_Message):
    """Ask for a good move in the game; the node is the position shown."""

    node: _Node


class Draw(_Message):
    """Replace the arrows and circles of this node (see `GameTree.shapes`)."""

    node: _Node
    shapes: Annotated[list[Annotated[str, Meta(pattern="^[GRYB]([a-h][1-8]){1,2}$")]], Meta(max_length=64)]


class GoTo(_Message):
    """Show the position of this node."""

    node: _Node


class Delete(_Message):
    """Delete this move and all moves after it."""

    node: _Node


class Promote(_Message):
    """Make the variation of this move the main line."""

    node: _Node


class Remark(_Message):
    """Replace the words of a node's comment and its marks, which are numeric annotation glyphs."""

    node: _Node
    comment: Annotated[str, Meta(max_length=MAX_COMMENT)]
    nags: Annotated[list[Annotated[int, Meta(ge=1, le=255)]], Meta(max_length=32)]


class Reorder(_Message):
    """Exchange a move with the alternative before it (`up`) or after it."""

    node: _Node
    up: bool


class Analyse(_Message):
    """Turn the analysis on or off, with this number of lines; with `threat`, as if the other side were to move."""

    on: bool
    lines: Annotated[int, Meta(ge=1, le=MAX_LINES)] = 1
    threat: bool = False


class SwitchOther(_Message):
    """Turn the analysis by the second engine on or off, with this number of lines."""

    on: bool
    lines: Annotated[int, Meta(ge=1, le=MAX_LINES)] = 1


class Configure(_Message):
    """Choose the engine's search threads and the size of its hash table in MiB."""

    threads: Annotated[int, Meta(ge=1)]
    hash: Annotated[int, Meta(ge=1)]


class Evaluate(_Message):
    """Evaluate each position of the line on the board and review the line, or stop the evaluation.

    Each position is searched for `seconds` if given, otherwise with `nodes`.
    """

    on: bool = True
    nodes: Annotated[int, Meta(ge=1_000, le=10**9)] = FULL_NODES
    seconds: Annotated[float, Meta(ge=0.05, le=600)] | None = None


class Moments(_Message):
    """Ask for the moments that decided the finished game."""


class Retry(_Message):
    """Try a move in the position of a moment, in UCI's notation or as SAN; the node is the one before the move."""

    node: _Node
    move: Annotated[str, Meta(max_length=16)]


class Worths(_Message):
    """Ask for the static value of this node's position and the worth of each piece."""

    node: _Node


class LoadFen(_Message):
    """Set up a position."""

    fen: _Fen


class CheckFen(_Message):
    """Ask whether a position is legal."""

    fen: _Fen


class LoadPgn(_Message):
    """Load a game from a PGN, by its index from 0.

    With `raw`, each character stands for a byte of a file whose encoding must be detected.
    """

    pgn: str
    index: _Index = 0
    raw: bool = False

    def content(self) -> bytes:
        """Return the content of the file, or the text in UTF-8.

        MessageError if it has more than `MAX_PGN` bytes, or a character does not stand for a byte.
        """
        return _content(self.pgn, self.raw)


class ChooseGame(_Message):
    """Show the game with this index in the file, including its edits."""

    index: _Index


class SaveGame(_Message):
    """Save the game on the board in the user's games."""


class OpenSaved(_Message):
    """Show the saved game with this number."""

    number: _Whole


class Restore(_Message):
    """Restore the content of the tab's board after a restart of the server.

    `pgn`, `raw` and `index` are as in `LoadPgn`; without a file, `pgn` is empty. `edited` maps the index of each
    edited game to its PGN, and `places` the index of each saved game to its number and version among the user's games;
    the page writes the indexes as text. `path` leads from the start to the position shown: at each move, it has the
    index of the variation to follow.
    """

    pgn: str = ""
    raw: bool = False
    index: _Index = 0
    edited: dict[str, str] = {}
    path: list[_Index] = []
    places: dict[str, tuple[_Whole, _Whole]] = {}

    def content(self) -> bytes:
        """Return the content of the file, as `LoadPgn.content` does."""
        return _content(self.pgn, self.raw)

    def edited_games(self) -> dict[int, bytes]:
        """Return the edited games in UTF-8, by their index; MessageError if an index is invalid."""
        return {_index(key): game.encode("utf-8", "replace") for key, game in self.edited.items()}

    def saved_games(self) -> dict[int, tuple[int, int]]:
        """Return the number and version of each saved game, by its index; MessageError if an index is invalid."""
        return {_index(key): place for key, place in self.places.items()}


class Undo(_Message):
    """Undo the last edit."""


class Redo(_Message):
    """Redo the edit that was undone last."""


def _index(text: str) -> int:
    """Return an index that the page has written as text."""
    if not (text.isdecimal() and len(text) <= 6):
        raise MessageError("bad message: a game has no index")
    return int(text)


def _content(text: str, raw: bool) -> bytes:
    """Return a text in UTF-8; if it is raw, the bytes that its characters stand for. MessageError if that fails."""
    try:
        content = text.encode("latin-1") if raw else text.encode("utf-8", "replace")
    except UnicodeEncodeError:
        raise MessageError("a character of the file does not stand for a byte") from None
    if len(content) > MAX_PGN:
        raise MessageError(f"the PGN has more than {MAX_PGN // 1024} KB; load a part of it")
    return content


Message: TypeAlias = (
    NewGame
    | Play
    | PlayLine
    | Preview
    | TakeBack
    | Resign
    | OfferDraw
    | Hint
    | Draw
    | GoTo
    | Delete
    | Promote
    | Remark
    | Reorder
    | Analyse
    | SwitchOther
    | Configure
    | Evaluate
    | Moments
    | Retry
    | Worths
    | LoadFen
    | CheckFen
    | LoadPgn
    | ChooseGame
    | SaveGame
    | OpenSaved
    | Restore
    | Undo
    | Redo
)

_decoder: Decoder[Message] = Decoder(Message)


def parse(text: str) -> Message:
    """Return the message that the text describes.

    MessageError if it is not JSON, of unknown type, or has a missing, unknown or out-of-bounds field.
    """
    try:
        return _decoder.decode(text)
    except (DecodeError, ValueError, RecursionError) as error:
        complaint = " ".join(str(error).split())
        raise MessageError(f"bad message: {complaint[:_LONGEST_COMPLAINT]}") from None
