"""The user's games: an SQLite file in the user's data folder, which several servers and tabs may use at once."""

from __future__ import annotations

import hashlib
import secrets
import sqlite3
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from knightadder.pgn.game_files import UNREADABLE, decompressed
from knightadder.pgn.games import headers_of, texts_of
from knightadder.user_file import UserFile
from knightadder.web.messages import MessageError

MAX_FILE = 64 * 1024 * 1024  # maximum size of an added file in bytes
_APPLICATION = 0x4B41_474D  # the file's application_id in SQLite: "KAGM"
_VERSION = 1  # version of the schema, in the file's user_version
# `version` grows with each change of the game. It begins at a random number, chosen before the first save: so a page
# that has not learned of any save still finds the game by it, and if another file replaces this one, its games are not
# taken for the same games. A deleted game keeps its row, so that deleting can be undone. `words` is the searched text.
# `digest` tells whether an added game is already stored.
_TABLES = """
CREATE TABLE IF NOT EXISTS games (
    id INTEGER PRIMARY KEY AUTOINCREMENT, version INTEGER NOT NULL, white TEXT NOT NULL, black TEXT NOT NULL,
    result TEXT NOT NULL, event TEXT NOT NULL, date TEXT NOT NULL, words TEXT NOT NULL, pgn TEXT NOT NULL,
    digest BLOB NOT NULL, changed REAL NOT NULL, deleted INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS digests ON games (digest);
CREATE INDEX IF NOT EXISTS changes ON games (changed);
"""
_NAMES = ("white", "black", "result", "event", "date")
_MOST_CHANGES = 1_000_000  # maximum number of changes for which a game is found by its first version
_INSERT = f"INSERT INTO games (version, {', '.join(_NAMES)}, words, pgn, digest, changed) VALUES (?{', ?' * 9})"


@dataclass(frozen=True, slots=True)
class SavedPlace:
    """The place of a saved game: its number, and its version when it was read or written.
    A game that is not saved yet has the number 0, and the version with which it will be saved.
    """

    number: int
    version: int

    @classmethod
    def unsaved(cls) -> SavedPlace:
        """Return a place for a game that is not saved yet."""
        return cls(0, secrets.randbits(48))


@dataclass(frozen=True, slots=True)
class SavedGame:
    """A saved game in a list."""

    number: int
    white: str
    black: str
    result: str
    event: str
    date: str


class SavedGames:
    """The file of the user's games. All methods raise OptionError if it cannot be used."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._database = UserFile(file, "games", _APPLICATION, _VERSION, _TABLES)

    def put(
        self, pgn: str, headers: Mapping[str, str], place: SavedPlace | None = None, once: bool = False
    ) -> SavedPlace:
        """Save a game; return its place.

        It replaces the game at `place`, unless that game has been changed or deleted since: then both are kept. With
        `once`, a game that is already stored is not saved again.
        """
        row = _row(pgn, headers)
        place = place or SavedPlace.unsaved()
        with self._database.changing() as database:
            if place.number:
                names = ", ".join(f"{name} = ?" for name in (*_NAMES, "words", "pgn", "digest", "changed"))
                done = database.execute(
                    f"UPDATE games SET {names}, version = version + 1 WHERE id = ? AND version = ? AND NOT deleted",
                    [*row, place.number, place.version],
                )
                if done.rowcount:
                    return SavedPlace(place.number, place.version + 1)
                place = SavedPlace.unsaved()
            elif once and (known := _known(database, row)):
                return known
            return _insert(database, row, place.version)

    def add_file(self, content: bytes) -> tuple[int, int]:
        """Add the games of a PGN file, all or none; return how many are new, and how many were already stored."""
        try:
            games = [(text.text, headers_of(text)) for text in texts_of(decompressed(content, MAX_FILE))]
        except UNREADABLE as error:
            raise MessageError(f"this file cannot be read: {error}") from None
        rows = [_row(text, headers) for text, headers in games if headers is not None]
        if not rows:
            raise MessageError("this file has no game")
        new = 0
        with self._database.changing() as database:
            for row in rows:
                if _known(database, row) is None:
                    _insert(database, row, SavedPlace.unsaved().version)
                    new += 1
        return new, len(rows) - new

    def find(self, wanted: str, start: int, count: int) -> tuple[list[SavedGame], int]:
        """Return a page of the games that contain all wanted words, last changed first, and their total number."""
        words = wanted.casefold().split()
        where = " AND ".join(["NOT deleted", *["instr(words, ?)"] * len(words)])
        with self._database.connected() as database:
            [total] = database.execute(f"SELECT count(*) FROM games WHERE {where}", words).fetchone()
            rows = database.execute(
                f"SELECT id, {', '.join(_NAMES)} FROM games WHERE {where} "
                "ORDER BY changed DESC, id DESC LIMIT ? OFFSET ?",
                [*words, count, start],
            ).fetchall()
        return [SavedGame(*row) for row in rows], total

    def get(self, number: int) -> tuple[str, SavedPlace] | None:
        """Return the PGN of a game and its place; None if there is no such game."""
        with self._database.connected() as database:
            row = database.execute("SELECT pgn, version FROM games WHERE id = ? AND NOT deleted", [number]).fetchone()
        return (row[0], SavedPlace(number, row[1])) if row else None

    def newest(self, place: SavedPlace) -> tuple[str, SavedPlace, bool] | None:
        """Return the PGN of a stored game, its place now, and whether it is deleted; None if it was never stored."""
        which = "id = ?" if place.number else "? = 0"  # 0: the place is from before the first save
        with self._database.connected() as database:
            row = database.execute(
                f"SELECT pgn, id, version, deleted FROM games WHERE {which} AND version BETWEEN ? AND ?",
                [place.number, place.version, place.version + _MOST_CHANGES],
            ).fetchone()
        return (row[0], SavedPlace(*row[1:3]), bool(row[3])) if row else None

    def delete(self, number: int, deleted: bool = True) -> bool:
        """Delete a game, or undo its deletion; return whether there is a game with this number."""
        with self._database.connected() as database:
            return bool(database.execute("UPDATE games SET deleted = ? WHERE id = ?", [deleted, number]).rowcount)

    def all(self) -> Iterator[str]:
        """Yield the PGN of each game, in the order in which the games were first saved."""
        with self._database.connected() as database:
            for (pgn,) in database.execute("SELECT pgn FROM games WHERE NOT deleted ORDER BY id"):
                yield pgn


def _insert(database: sqlite3.Connection, row: list[object], version: int) -> SavedPlace:
    number = database.execute(_INSERT, [version, *row]).lastrowid
    assert number is not None
    return SavedPlace(number, version)


def _known(database: sqlite3.Connection, row: list[object]) -> SavedPlace | None:
    """Return the place of the stored game with the same digest, if there is one."""
    found = database.execute("SELECT id, version FROM games WHERE digest = ? AND NOT deleted", [row[7]]).fetchone()
    return SavedPlace(*found) if found else None


def _row(pgn: str, headers: Mapping[str, str]) -> list[object]:
    values = [_storable(headers.get(name.capitalize(), "?")) for name in _NAMES]
    pgn = _storable(pgn.strip()) + "\n"
    digest = hashlib.sha256(pgn.encode()).digest()
    return [*values, " ".join(values).casefold(), pgn, digest, time.time()]


def _storable(text: str) -> str:
    """Replace characters that UTF-8 cannot express: SQLite would refuse them."""
    return text.encode("utf-8", "replace").decode()
