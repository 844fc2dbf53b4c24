"""The user's SQLite files, such as the drills. They are created if missing, and several processes may use them."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from knightadder.engine.errors import OptionError
from knightadder.files import make_folder

_PATIENCE = 30.0  # seconds to wait while another process writes


def user_file(name: str) -> Path:
    """Return the path of a file in the user's data folder."""
    import platformdirs

    return platformdirs.user_data_path("knightadder", appauthor=False) / name


class UserFile:
    """An SQLite file with tables of this program. It is created if it is missing, even if it was deleted during use.

    `content` is the kind of content as a plural noun, for messages. `application` and `version` are the file's marks:
    SQLite's ``application_id`` and ``user_version``. `tables` are SQL statements that create the tables, with ``IF NOT
    EXISTS``, because two processes may begin at the same time.
    """

    def __init__(self, file: Path, content: str, application: int, version: int, tables: str) -> None:
        self.file = file
        self._content = content
        self._marks = [application, version]
        self._schema = (
            f"BEGIN IMMEDIATE; {tables} PRAGMA application_id = {application}; PRAGMA user_version = {version}; COMMIT;"
        )
        with self.connected():
            pass  # immediately refuses a file that cannot be used

    @contextlib.contextmanager
    def connected(self) -> Iterator[sqlite3.Connection]:
        """Open the file for one transaction, in any thread or process; OptionError if it cannot be used."""
        try:
            make_folder(self.file.parent)
            with contextlib.closing(sqlite3.connect(self.file, timeout=_PATIENCE)) as database, database:
                self._prepare(database)
                yield database
        except sqlite3.Error as error:
            raise OptionError(f"cannot use the {self._content} in {self.file}: {error}") from None

    @contextlib.contextmanager
    def changing(self) -> Iterator[sqlite3.Connection]:
        """Open the file as `connected` does, for a transaction during which no other process changes the file."""
        with self.connected() as database:
            database.execute("BEGIN IMMEDIATE")
            yield database

    def _prepare(self, database: sqlite3.Connection) -> None:
        """Create the tables in a new file; refuse a file of a different kind or version."""
        marks = [database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
        if marks == self._marks:
            return
        empty = not database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if marks != [0, 0] or not empty:
            raise OptionError(f"{self.file} is not a file of {self._content}, or a different version created it")
        database.executescript(self._schema)
