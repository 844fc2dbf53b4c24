"""Reads files of games quickly: the core reads what programs write, and the careful reader (`games`) reads the rest.

Both readers find the same games. The quick reader stops before a game that it cannot read. The careful reader then
continues until a game begins at the start of a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from knightadder.core.api.pgn_reading import read_block, replay_games, set_up_reader
from knightadder.core.board.fen import START
from knightadder.core.board.packed import PACKED
from knightadder.core.board.pgn_reader import CAREFUL, DONE, GAME, NOTE, PADDING, READER, TAG
from knightadder.core.tables import new_tables
from knightadder.native.records import new_record
from knightadder.pgn.game_files import chunks_of, decoded_line, opened
from knightadder.pgn.splitting import GameText, split_lines

if TYPE_CHECKING:
    from collections.abc import Callable

_LINE_END = re.compile(rb"\r\n|\n|\r")
_MARK = b"\xef\xbb\xbf"  # the byte order mark of UTF-8
_NOTHING = bytes(PADDING)


@dataclass(frozen=True, slots=True)
class GameBlock:
    """Games that the core has read. The fields with moves, clocks and scores contain the items of all games, in order.
    `read_block` in ``core/board/pgn_reader.py`` describes the arrays.
    """

    text: NDArray[np.uint8]  # the bytes that `games`, `tags` and `notes` refer to, followed by zeros
    games: NDArray[np.void]
    tags: NDArray[np.void]
    moves: NDArray[np.uint16]
    clocks: NDArray[np.int64]
    scores: NDArray[np.int16]
    notes: NDArray[np.void]
    number: int  # number of the first game in its file, from 1

    def game_text(self, index: int) -> GameText:
        """Return the text of a game, as the careful reader returns it."""
        game = self.games[index]
        text = _decoded_lines(self.text[game["start"] : game["end"]].tobytes())
        return GameText(self.number + index, int(game["line"]), text.strip("\n"))


def _decoded_lines(raw: bytes) -> str:
    r"""Decode the lines of a game that the core has read. They end with ``\n`` or ``\r\n``."""
    raw = raw.replace(b"\r\n", b"\n")
    if raw.isascii():
        return raw.decode()
    return "".join(decoded_line(line) for line in raw.splitlines(keepends=True))


def read_blocks(file: Path, update: Callable[[int, int], None] | None = None) -> Iterator[GameBlock | GameText]:
    """Yield the games of a file in order: blocks that the core has read, and the texts of the remaining games.

    After each block, `update` gets the number of bytes read from the file (as stored, perhaps compressed) and the
    number of games. OptionError if the file cannot be read.
    """
    with opened(file) as (stream, tell):
        scanner = _Scanner(stream)
        for found in scanner.read():
            yield found
            if update is not None:
                update(tell(), scanner.number)


def blocks_in(stream: BinaryIO) -> Iterator[GameBlock | GameText]:
    """Read a stream of uncompressed bytes as `read_blocks` does; UnicodeError if it is malformed UTF-16."""
    return _Scanner(stream).read()


class _Scanner:
    """Reads a stream of bytes with the two readers in turn."""

    def __init__(self, stream: BinaryIO) -> None:
        self.number = 0  # number of games found
        self._blocks = chunks_of(stream)
        self._text = b""
        self._at = 0  # index of the next game's first byte
        self._line = 1
        self._ended = False  # whether the stream has ended
        self._core = _Core()

    def read(self) -> Iterator[GameBlock | GameText]:
        self._more()
        if self._text.startswith(_MARK):
            self._at = len(_MARK)
        while True:
            status, block, self._at, self._line = self._core.read(
                self._text, self._at, self._line, self._ended, self.number + 1
            )
            if block is not None:
                self.number += len(block.games)
                yield block
            if status == CAREFUL:
                yield from self._read_carefully()
            elif self._ended:
                return
            else:
                # A game that does not fit in a block needs a larger block.
                self._more(1 if block is not None or status == DONE else max(len(self._text) - self._at, 1))

    def _more(self, wanted: int = 1) -> None:
        """Read at least this many more bytes, unless the stream ends."""
        parts = [self._text[self._at :]]
        while wanted > 0 and not self._ended:
            part = next(self._blocks, b"")
            self._ended = not part
            parts.append(part)
            wanted -= len(part)
        self._text, self._at = b"".join(parts), 0

    def _read_carefully(self) -> Iterator[GameText]:
        """Read games with the careful reader, until a game begins at the start of a line."""
        begins: list[int] = []  # where each line that was read begins in the text
        first_line, start = self._line, self._at
        moved = 0  # number of bytes that were removed from the start of the text

        def lines() -> Iterator[str]:
            nonlocal moved
            at = start
            while True:
                begins.append(at)
                match = _LINE_END.search(self._text, at - moved)
                while (match is None or match.end() == len(self._text)) and not self._ended:
                    moved += self._at
                    self._more(max(len(self._text) - self._at, 1))
                    match = _LINE_END.search(self._text, at - moved)
                raw = self._text[at - moved : match.start() if match else len(self._text)]
                if match is None and not raw:
                    return
                at += len(raw) + (len(match[0]) if match else 0)
                yield decoded_line(raw + b"\n" if match else raw)

        for line, text, next_line in split_lines(lines(), first_line):
            self.number += 1
            yield GameText(self.number, line, text)
            if next_line is not None:
                self._at, self._line = begins[next_line - first_line] - moved, next_line
                return
        self._at, self._text = 0, b""


@cache
def tables() -> Any:
    """Return the tables of the core, which all calls share."""
    return new_tables()


def new_reader() -> Any:
    """Return a reader of the core, ready for games."""
    reader = new_record(READER)
    set_up_reader(tables(), reader, np.frombuffer(bytearray(START.encode()), np.uint8))
    return reader


class _Core:
    """Buffers for the results of the core in a block."""

    def __init__(self) -> None:
        self._reader = new_reader()
        self._size = -1

    def read(self, text: bytes, at: int, line: int, last: bool, number: int) -> tuple[int, GameBlock | None, int, int]:
        """Read games from `at` on; return why the reader stopped, the games, and the place and line of the next one."""
        if len(text) > self._size:
            self._size = len(text)
            self._games = np.empty(self._size // 4 + 2, GAME)
            self._tags = np.empty(self._size // 4 + 2, TAG)
            self._notes = np.empty(self._size // 2 + 2, NOTE)
            self._moves = np.empty(self._size // 2 + 2, np.uint16)
            self._clocks = np.empty(self._size // 2 + 2, np.int64)
            self._scores = np.empty(self._size // 2 + 2, np.int16)
        reader = self._reader
        reader["at"], reader["line"], reader["end"], reader["last"] = at, line, len(text), last
        padded = np.frombuffer(bytearray(text + _NOTHING), np.uint8)
        arrays = self._games, self._tags, self._moves, self._clocks, self._scores, self._notes
        status = int(read_block(tables(), reader, padded, *arrays))
        block = None
        if games := int(reader["games"]):
            tags, moves, notes = (int(reader[name]) for name in ("tags", "moves", "notes"))
            block = GameBlock(
                padded,
                self._games[:games].copy(),
                self._tags[:tags].copy(),
                self._moves[:moves].copy(),
                self._clocks[:moves].copy(),
                self._scores[:moves].copy(),
                self._notes[:notes].copy(),
                number,
            )
        return status, block, int(reader["at"]), int(reader["line"])


def read_bytes(text: bytes, number: int) -> GameBlock | None:
    """Read a whole text with the core; None if the core cannot read any game. `number` is the first game's number."""
    return _Core().read(text, 0, 1, True, number)[1]


def pack_block(block: GameBlock, which: slice) -> NDArray[np.void]:
    """Return the positions before each move of some games of a block, as an array of PACKED; see `replay_games`."""
    games = block.games[which]
    records = np.zeros(int(games["moves"].sum()), PACKED)
    _replay(block, games, records, np.empty(0, np.uint64))
    return records


def keys_in(block: GameBlock, which: slice) -> NDArray[np.uint64]:
    """Return the Polyglot keys of the positions before each move of some games of a block; see `polyglot_key`."""
    games = block.games[which]
    keys = np.zeros(int(games["moves"].sum()), np.uint64)
    _replay(block, games, np.empty(0, PACKED), keys)
    return keys


def _replay(block: GameBlock, games: NDArray[np.void], records: NDArray[np.void], keys: NDArray[np.uint64]) -> None:
    arrays = block.text, games, block.moves, block.scores, _polyglot_numbers(), records, keys
    replay_games(tables(), new_reader(), *arrays)


@cache
def _polyglot_numbers() -> NDArray[np.uint64]:
    from chess.polyglot import POLYGLOT_RANDOM_ARRAY

    return np.array(POLYGLOT_RANDOM_ARRAY, np.uint64)
