"""The messages that a page may send to the server: JSON objects with a ``type``, read by msgspec or refused.

The type and the bounds of each field are checked only here. Conditions that depend on the position, for example that a
move is legal, are checked where the position is known.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal, TypeAlias

from msgspec import DecodeError, Meta, Struct
from msgspec.json import Decoder

from knightadder.engine.errors import EngineError
from knightadder.engine.strength import MAX_ELO, MIN_ELO

FULL_NODES = 200_000  # nodes for each position of an evaluated game: the default of `annotate`
MAX_PGN = 512 * 1024  # bytes
_MAX_EDITED = 8 * 1024 * 1024  # bytes of edited games that a tab can restore: enough for 20,000 moves with comments
MAX_MESSAGE = _MAX_EDITED + 6 * MAX_PGN  # bytes; null bytes, as in UTF-16, take six bytes each in JSON
MAX_LINES = 10
MAX_COMMENT = MAX_PGN  # maximum length in characters; a loaded game may have a comment of this length
_LONGEST_COMPLAINT = 120  # maximum length in characters, because a complaint may quote the message

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
    """Start a game, with the user's side as ``white``, ``black`` or ``random``."""

    color: Literal["white", "black", "random"]
    elo: Annotated[int, Meta(ge=MIN_ELO, le=MAX_ELO)] | None = None  # the engine's strength; None for full strength
    initial: Annotated[float, Meta(ge=1, le=24 * 3600)] | None = None  # seconds on the clock; None without a clock
    increment: Annotated[float, Meta(ge=0, le=3600)] = 0.0  # seconds per move
    move_time: Annotated[float, Meta(ge=0.05, le=600)] = 1.0  # seconds per move of the engine, without a clock
    start: Literal["standard", "chess960", "here"] = "standard"  # "here" is the position on the board
    number: Annotated[int, Meta(ge=0, le=959)] | None = None  # number of the Chess960 start position; None: random
    pace: bool = False  # whether a weakened engine waits as long as a person might think


class Play(_Message):
    """Play a move from a node of the tree, in UCI notation or in SAN."""

    node: _Node
    move: Annotated[str, Meta(max_length=16)]
    in_game: bool = False  # whether the page showed a running game; if that has ended, the move is refused


class PlayLine(_Message):
    """Add moves, in UCI notation, as a variation, and show its end."""

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
    """Try a move, in UCI notation or in SAN, in the position of a moment; the node is the one before the move."""

    node: _Node
    move: Annotated[str, Meta(max_length=16)]


class Worths(_Message):
    """Ask for the static value of this node's position and the value of each piece in it."""

    node: _Node


class LoadFen(_Message):
    """Set up a position."""

    fen: _Fen


class CheckFen(_Message):
    """Ask whether a position is legal."""

    fen: _Fen


class LoadPgn(_Message):
    """Load a game from a PGN, by its index from 0. With `raw`, each character is a byte of an unknown encoding.
    `number` is the page's number for this PGN.
    """

    pgn: str
    index: _Index = 0
    raw: bool = False
    number: _Whole = 0

    def content(self) -> bytes:
        """Return the bytes of the file, or the text in UTF-8; MessageError if that fails."""
        return _content(self.pgn, self.raw)


class ChooseGame(_Message):
    """Show the file's game with this index, including its edits."""

    index: _Index


class SaveGame(_Message):
    """Save the game on the board in the user's games."""


class OpenSaved(_Message):
    """Show the saved game with this number."""

    number: _Whole


class Restore(_Message):
    """Restore the content of the tab's board after a restart of the server.

    `pgn`, `raw` and `index` are as in `LoadPgn`; without a file, `pgn` is empty. The keys of `edited` and `places` are
    indices of games, which the page writes as text.
    """

    pgn: str = ""
    raw: bool = False
    index: _Index = 0
    edited: dict[str, str] = {}  # PGN of each edited game
    path: list[_Index] = []  # indices of the variations that lead from the start to the shown position
    places: dict[str, tuple[_Whole, _Whole]] = {}  # number (0 if not saved yet) and version of each game
    began: _Index | None = None  # the ply at which the game against the engine began; None if it is not such a game

    def content(self) -> bytes:
        """Return the content of the file, as `LoadPgn.content` does."""
        return _content(self.pgn, self.raw)

    def edited_games(self) -> dict[int, bytes]:
        """Return the edited games in UTF-8, by their index; MessageError if an index is invalid."""
        return {_index(key): game.encode("utf-8", "replace") for key, game in self.edited.items()}

    def places_of_games(self) -> dict[int, tuple[int, int]]:
        """Return the number and version of each game, by its index; MessageError if an index is invalid."""
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
    """Return a text in UTF-8 or, if raw, the bytes that its characters stand for; MessageError if that fails."""
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
    """Return the message that the text describes; MessageError if it is not JSON, or a type or field is invalid."""
    try:
        return _decoder.decode(text)
    except (DecodeError, ValueError, RecursionError) as error:
        complaint = " ".join(str(error).split())
        raise MessageError(f"bad message: {complaint[:_LONGEST_COMPLAINT]}") from None
