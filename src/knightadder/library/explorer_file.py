"""The file of an index of games, an SQLite database: its tables, and the contents of their blobs.

`knightadder.books.indexer` writes the file and `knightadder.library.explorer` reads it. Games are numbered from 0. For
each position, there is a list of the games that have it, with the moves played in it. The lists are written in runs,
one for each part of a long index. Eight runs are merged into one run of the next level, so the number of runs stays
small. The lists of rare positions are packed together, in parts of a run by the first bits of their keys.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knightadder.core.board.pgn_reader import GAME, PADDING
from knightadder.foreign import parse_json

APPLICATION = 0x4B41_4258  # the file's application_id in SQLite: "KABX"
# Version of the schema, in the file's user_version. Version 1 had sums for each move, but no filters. In version 2,
# spaces around commas made different players.
VERSION = 3

# `sources` has a row for each file read: the digest of its content, and the numbers of texts read, games with a
# result, games without one, broken games, and new games. `facts` are records of the core. `digests` are 64-bit numbers
# that tell games apart. `first` is the number of a row's first game.
SCHEMA = f"""
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {VERSION};
CREATE TABLE settings (plies INTEGER NOT NULL);
CREATE TABLE sources (
    digest TEXT PRIMARY KEY, read INTEGER NOT NULL, sound INTEGER NOT NULL, unfinished INTEGER NOT NULL,
    broken INTEGER NOT NULL, added INTEGER NOT NULL, whole INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE players (id INTEGER PRIMARY KEY, plain TEXT NOT NULL UNIQUE, name TEXT NOT NULL);
CREATE TABLE games (first INTEGER PRIMARY KEY, facts BLOB NOT NULL, digests BLOB NOT NULL);
CREATE TABLE texts (first INTEGER PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE runs (id INTEGER PRIMARY KEY, level INTEGER NOT NULL);
CREATE TABLE rare (part INTEGER, run INTEGER, body BLOB NOT NULL, PRIMARY KEY (part, run)) WITHOUT ROWID;
CREATE TABLE common (
    key INTEGER, run INTEGER, games BLOB NOT NULL, moves BLOB NOT NULL, PRIMARY KEY (key, run)
) WITHOUT ROWID;
"""

CHUNK = 64  # number of games in a row of `texts`
_MERGED = 8  # number of runs of a level that are merged into one run of the next level
_COMMON = 256  # minimum number of games in a run for which a position's list has a separate row
_KEY_BITS = 51  # number of bits, from the highest, of a Polyglot key that are stored: enough to tell positions apart
_PART_BITS = 11  # number of bits, from the highest, of a stored key that give its part of the index
_REST_BITS = _KEY_BITS - _PART_BITS
_REST_BYTES = _REST_BITS // 8

Games: TypeAlias = NDArray[np.uint32]
Moves: TypeAlias = NDArray[np.uint16]
Keys: TypeAlias = NDArray[np.int64]


def short_keys(keys: NDArray[np.uint64]) -> Keys:
    """Return the parts of Polyglot keys that the file contains; SQLite can store them as numbers."""
    return (keys >> np.uint64(64 - _KEY_BITS)).astype(np.int64)


# --- lists of games ------------------------------------------------------------------------------------------------


def add_run(database: sqlite3.Connection, run: int, keys: Keys, games: Games, moves: Moves) -> None:
    """Write lists as a new run, and merge runs if there are many. Call this in a transaction.

    `run` is the number of the new run, which must be higher than all others. The arrays `keys`, `games` and `moves`
    have the positions, for each position its games in increasing order, and the moves of these games in 16 bits.
    """
    order = np.argsort(keys, kind="stable")
    _write(database, run, keys[order], games[order], moves[order])
    database.execute("INSERT INTO runs VALUES (?, 0)", (run,))
    level = 0
    while len(runs := _runs(database, level)) >= _MERGED:
        _merge(database, runs)
        level += 1
        database.executemany("DELETE FROM runs WHERE id = ?", [(number,) for number in runs])
        database.execute("INSERT INTO runs VALUES (?, ?)", (runs[0], level))


def _runs(database: sqlite3.Connection, level: int) -> list[int]:
    return [number for (number,) in database.execute("SELECT id FROM runs WHERE level = ? ORDER BY id", (level,))]


def _merge(database: sqlite3.Connection, runs: Sequence[int]) -> None:
    """Write the lists of several runs as one run, with the number of the first run."""
    span = runs[0], runs[-1]
    for part in range(1 << _PART_BITS):
        keys, games, moves = [], [], []
        first, last = part << _REST_BITS, ((part + 1) << _REST_BITS) - 1
        among = "key BETWEEN ? AND ? AND run BETWEEN ? AND ?"
        for key, listed, played in database.execute(
            f"SELECT key, games, moves FROM common WHERE {among} ORDER BY run", (first, last, *span)
        ):
            found = _unpack_list(listed, played)
            keys.append(np.full(len(found[0]), key))
            games.append(found[0])
            moves.append(found[1])
        for (body,) in database.execute(
            "SELECT body FROM rare WHERE part = ? AND run BETWEEN ? AND ? ORDER BY run", (part, *span)
        ):
            rests, counts, listed, played = _unpack(body)
            keys.append(np.repeat(rests | first, counts))
            games.append(listed)
            moves.append(played)
        if not keys:
            continue
        database.execute(f"DELETE FROM common WHERE {among}", (first, last, *span))
        database.execute("DELETE FROM rare WHERE part = ? AND run BETWEEN ? AND ?", (part, *span))
        all_keys, all_games, all_moves = (np.concatenate(each) for each in (keys, games, moves))
        order = np.lexsort((all_games, all_keys))
        _write(database, runs[0], all_keys[order], all_games[order], all_moves[order])


def _write(database: sqlite3.Connection, run: int, keys: Keys, games: Games, moves: Moves) -> None:
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    counts = np.diff(starts, append=len(keys))
    frequent = counts >= _COMMON
    for start, count in zip(starts[frequent].tolist(), counts[frequent].tolist(), strict=True):
        which = slice(start, start + count)
        row = int(keys[start]), run, games[which].astype("<u4").tobytes(), moves[which].astype("<u2").tobytes()
        database.execute("INSERT INTO common VALUES (?, ?, ?, ?)", row)
    rest = np.repeat(~frequent, counts)
    starts, counts = starts[~frequent], counts[~frequent]
    if not len(starts):
        return
    unique, listed, played = keys[starts], games[rest], moves[rest]
    ends = np.cumsum(counts)
    parts = unique >> _REST_BITS
    borders = np.flatnonzero(np.diff(parts, prepend=-1, append=1 << _PART_BITS))
    steps = np.diff(unique, prepend=0)
    begins = borders[:-1]
    steps[begins] = unique[begins] & ((1 << _REST_BITS) - 1)  # the first key of a part is stored whole
    planes = _planes(steps, _REST_BYTES), _planes(counts, 1), _planes(listed, 4), _planes(played, 2)
    game_borders = np.append(0, ends)[borders].tolist()
    rows = []
    for (a, b), (c, d) in zip(pairwise(borders.tolist()), pairwise(game_borders), strict=True):
        body = [np.uint32(b - a).tobytes()]
        body += [plane[:, a:b].tobytes() for plane in planes[:2]] + [plane[:, c:d].tobytes() for plane in planes[2:]]
        rows.append((int(parts[a]), run, zlib.compress(b"".join(body), 1)))
    database.executemany("INSERT INTO rare VALUES (?, ?, ?)", rows)


def _planes(numbers: NDArray[np.integer], size: int) -> NDArray[np.uint8]:
    """Return the bytes of numbers in rows, the highest bytes first, because these rows compress better."""
    rows: NDArray[np.uint8] = numbers.astype(">u8").view(np.uint8).reshape(-1, 8)
    return rows[:, 8 - size :].T


def _joined(planes: NDArray[np.uint8]) -> NDArray[np.int64]:
    numbers: NDArray[np.int64] = planes[0].astype(np.int64)
    for plane in planes[1:]:
        numbers = numbers << 8 | plane
    return numbers


def _unpack(body: bytes) -> tuple[Keys, NDArray[np.int64], Games, Moves]:
    """Return the content of a part: the remaining bits of the keys, the list lengths, and all lists; see `_write`."""
    raw, size = _inflated(body)
    at = 4 + size * _REST_BYTES
    rests = np.cumsum(_joined(raw[4:at].reshape(_REST_BYTES, size)))
    counts = raw[at : at + size].astype(np.int64)
    at += size
    total = int(counts.sum())
    if len(raw) != at + 6 * total:
        raise ValueError("part of the lists has the wrong length")
    games = _joined(raw[at : at + 4 * total].reshape(4, total)).astype(np.uint32)
    return rests, counts, games, _joined(raw[at + 4 * total :].reshape(2, total)).astype(np.uint16)


def _inflated(body: bytes) -> tuple[NDArray[np.uint8], int]:
    try:
        raw = np.frombuffer(zlib.decompress(body), np.uint8)
    except (zlib.error, TypeError) as error:
        raise ValueError(str(error)) from None
    size = int.from_bytes(raw[:4].tobytes(), "little")
    if len(raw) < 4 + size * (_REST_BYTES + 1):
        raise ValueError("part of the lists is truncated")
    return raw, size


def _unpack_list(games: bytes, moves: bytes) -> tuple[Games, Moves]:
    """Return a list that has a separate row; ValueError if it is damaged."""
    if not isinstance(games, bytes) or not isinstance(moves, bytes) or len(games) != 2 * len(moves) or len(moves) % 2:
        raise ValueError("a list of games is damaged")
    return np.frombuffer(games, "<u4"), np.frombuffer(moves, "<u2")


def find_lists(database: sqlite3.Connection, key: int) -> list[tuple[Games, Moves]]:
    """Return the games and moves of a position, in parts, ordered by game number; ValueError if a part is damaged."""
    found: list[tuple[int, Games, Moves]] = []
    for run, games, moves in database.execute("SELECT run, games, moves FROM common WHERE key = ?", (key,)):
        found.append((run, *_unpack_list(games, moves)))
    part, wanted = key >> _REST_BITS, key & ((1 << _REST_BITS) - 1)
    for run, body in database.execute("SELECT run, body FROM rare WHERE part = ?", (part,)):
        raw, size = _inflated(body)
        rests = np.cumsum(_joined(raw[4 : 4 + size * _REST_BYTES].reshape(_REST_BYTES, size)))
        place = int(np.searchsorted(rests, wanted))
        if place < size and rests[place] == wanted:
            _, counts, listed, played = _unpack(body)
            first = int(counts[:place].sum())
            which = slice(first, first + int(counts[place]))
            found.append((run, listed[which], played[which]))
    return [(games, moves) for _, games, moves in sorted(found, key=lambda each: each[0])]


def digests_of(raw: object) -> NDArray[np.int64]:
    """Return the digests of some games; ValueError if they are damaged."""
    if not isinstance(raw, bytes):
        raise ValueError("digests of games are missing")
    return np.frombuffer(raw, "<i8").astype(np.int64)


# --- texts of games ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GameChunk:
    """The tags of some games as JSON, the numbers of their moves, and all their moves in 16 bits."""

    json: bytes
    plies: NDArray[np.int64]
    moves: Moves

    @property
    def tags(self) -> list[dict[str, str]]:
        """The tags of each game."""
        found: list[dict[str, str]] = parse_json(self.json, list[dict[str, str]])
        if len(found) != len(self.plies):
            raise ValueError("tags of games are missing")
        return found

    def codes(self, index: int) -> Moves:
        """Return the moves of a game."""
        first = int(self.plies[:index].sum())
        return self.moves[first : first + int(self.plies[index])]

    def for_core(self) -> tuple[NDArray[np.uint8], NDArray[np.void]]:
        """Return the games in the form that the core replays: a text with their FENs, and records of the games."""
        games = np.zeros(len(self.plies), GAME)
        games["moves"] = self.plies
        games["first_move"] = np.cumsum(self.plies) - self.plies
        text = bytearray(b" ")
        if b'"FEN"' in self.json:
            for game, tags in zip(games, self.tags, strict=True):
                if "FEN" in tags:
                    game["fen"] = len(text)
                    text += tags["FEN"].encode()
                    game["fen_end"] = len(text)
        return np.frombuffer(text + bytes(PADDING), np.uint8), games


def pack_chunk(tags: Sequence[dict[str, str]], moves: Sequence[Moves]) -> bytes:
    """Return the tags and the moves of some games as a blob; see `unpack_chunk`."""
    text = json.dumps(tags, separators=(",", ":")).encode()
    plies = np.array([len(each) for each in moves], "<u4")
    body = len(text).to_bytes(4, "little"), text, len(plies).to_bytes(4, "little"), plies.tobytes()
    return zlib.compress(b"".join((*body, _planes(np.concatenate(moves), 2).tobytes())), 6)


def unpack_chunk(body: bytes) -> GameChunk:
    """Return the content of a blob; ValueError if it is damaged."""
    try:
        raw = zlib.decompress(body)
    except (zlib.error, TypeError) as error:
        raise ValueError(str(error)) from None
    at = 4 + int.from_bytes(raw[:4], "little")
    size = int.from_bytes(raw[at : at + 4], "little")
    end = at + 4 + 4 * size
    plies = np.frombuffer(raw[at + 4 : end], "<u4").astype(np.int64) if len(raw) >= end else np.empty(0, np.int64)
    if len(plies) != size or len(raw) != end + 2 * int(plies.sum()):
        raise ValueError("games are damaged")
    planes = np.frombuffer(raw, np.uint8, offset=end).reshape(2, -1)
    return GameChunk(raw[4:at], plies, _joined(planes).astype(np.uint16))


def chunks(rows: Callable[..., list[Any]]) -> Iterator[tuple[int, bytes]]:
    """Yield the blobs of all games, with the number of the first game in each; `rows` runs a query."""
    first = -1
    while found := rows("SELECT first, body FROM texts WHERE first > ? ORDER BY first LIMIT 50", first):
        yield from found
        first = found[-1][0]
