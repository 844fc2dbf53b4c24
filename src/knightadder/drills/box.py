"""The file of drills: an SQLite database with the drills, and the time when each drill is due (spaced repetition)."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal, TypeAlias

from fsrs import Card, Rating, Scheduler

from knightadder.drills.drill import Drill, position_key
from knightadder.engine.errors import OptionError
from knightadder.foreign import parse_json
from knightadder.user_file import UserFile

Grade: TypeAlias = Literal["again", "hard", "good"]

_APPLICATION = 0x4B41_4452  # the file's application_id in SQLite: "KADR"
_VERSION = 1  # version of the schema, in the file's user_version
# A drill that is not `used` was in an earlier repertoire. It keeps its card in case it returns to a repertoire. `card`
# is the state of the spaced repetition as JSON, or null before the first answer. `due` is a Unix time in seconds.
# Nothing reads `answers` yet. It is kept because FSRS can adapt its parameters to a user only from all past answers.
_TABLES = """
CREATE TABLE IF NOT EXISTS drills (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, white INTEGER NOT NULL, theme TEXT NOT NULL,
    opening TEXT NOT NULL, drill TEXT NOT NULL, used INTEGER NOT NULL, card TEXT, due REAL
);
CREATE TABLE IF NOT EXISTS answers (drill INTEGER NOT NULL REFERENCES drills, time REAL NOT NULL, grade TEXT NOT NULL);
"""
_PUT = """
INSERT INTO drills (key, kind, white, theme, opening, drill, used) VALUES (?, ?, ?, ?, ?, ?, 1)
ON CONFLICT (key) DO UPDATE
SET theme = excluded.theme, opening = excluded.opening, drill = excluded.drill, used = 1
"""
# If no other drill is due, a drill that is due within this time is shown now, as in Anki.
_AHEAD = timedelta(minutes=20)
_RATINGS = {"again": Rating.Again, "hard": Rating.Hard, "good": Rating.Good}


@dataclass(frozen=True, slots=True)
class Choice:
    """A filter for drills. An empty field or None means no restriction."""

    kind: str = ""
    white: bool | None = None
    theme: str = ""
    opening: str = ""

    def _where(self) -> tuple[str, list[object]]:
        wanted = {"kind": self.kind, "white": self.white, "theme": self.theme, "opening": self.opening}
        given = {name: value for name, value in wanted.items() if value not in ("", None)}
        return " AND ".join(["used", *(f"{name} = ?" for name in given)]), list(given.values())


ALL = Choice()


@dataclass(frozen=True, slots=True)
class Group:
    """The drills of a kind, side, theme and opening: the numbers of all drills, of new drills and of due drills."""

    kind: str
    white: bool
    theme: str
    opening: str
    count: int
    new: int
    due: int


@dataclass(frozen=True, slots=True)
class Asked:
    """The next drill and its number in the file, or None; and when the earliest drill is due.
    `turn` identifies this turn of the drill: it changes with each answer.
    """

    number: int | None
    turn: str | None
    drill: Drill | None
    next_due: datetime | None


class DrillBox:
    """A file of drills, which is created if it is missing; all methods raise OptionError if it cannot be used.
    Several threads and processes may use it. `now` returns the current time.
    """

    def __init__(self, file: Path, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self.file = file
        self._now = now
        self._scheduler = Scheduler()
        self._database = UserFile(file, "drills", _APPLICATION, _VERSION, _TABLES)

    def add(self, drills: Iterable[Drill]) -> int:
        """Add drills; return the number of new ones. Existing drills get the new description, and keep their card."""
        rows = [*map(_row, drills)]
        with self._database.changing() as database:
            before = _count(database)
            database.executemany(_PUT, rows)
            return _count(database) - before

    def set_repertoire(self, white: bool, drills: Sequence[Drill]) -> int:
        """Replace the repertoire of a side; return the number of new drills. Drills in both keep their progress."""
        rows = [*map(_row, drills)]
        with self._database.changing() as database:
            before = _count(database)
            database.execute("UPDATE drills SET used = 0 WHERE kind = 'repertoire' AND white = ?", [white])
            database.executemany(_PUT, rows)
            return _count(database) - before

    def repertoires(self) -> dict[bool, dict[str, tuple[str, ...]]]:
        """Return the repertoire of each colour: the moves to play, by the key of the position."""
        found: dict[bool, dict[str, tuple[str, ...]]] = {True: {}, False: {}}
        with self._database.connected() as database:
            rows = database.execute("SELECT white, drill FROM drills WHERE used AND kind = 'repertoire'").fetchall()
        for white, text in rows:
            drill = self._drill(text)
            found[bool(white)][position_key(drill.board())] = tuple(line[0] for line in drill.good)
        return found

    def groups(self) -> list[Group]:
        """Return the numbers of drills by kind, side, theme and opening."""
        with self._database.connected() as database:
            rows = database.execute(
                "SELECT kind, white, theme, opening, count(*), sum(card IS NULL), sum(ifnull(due <= ?, 0)) FROM drills "
                "WHERE used GROUP BY kind, white, theme, opening ORDER BY kind, white DESC, theme, opening",
                [self._now().timestamp()],
            ).fetchall()
        return [Group(kind, bool(white), *rest) for kind, white, *rest in rows]

    def next(self, choice: Choice = ALL, after: int = 0) -> Asked:
        """Return a due drill, else a new one, else one that is due soon; not drill `after` if there is another."""
        where, values = choice._where()
        now = self._now()
        with self._database.connected() as database:
            [row] = database.execute(
                f"SELECT id, key, card, drill FROM drills WHERE {where} AND (card IS NULL OR due <= ?) "
                "ORDER BY id = ?, CASE WHEN card IS NULL THEN 1 WHEN due <= ? THEN 0 ELSE 2 END, due, id LIMIT 1",
                [*values, (now + _AHEAD).timestamp(), after, now.timestamp()],
            ).fetchall() or [None]
            [due] = database.execute(f"SELECT min(due) FROM drills WHERE {where}", values).fetchone()
        next_due = None if due is None else datetime.fromtimestamp(due, UTC)
        if row is None:
            return Asked(None, None, None, next_due)
        number, key, card, text = row
        return Asked(number, _turn(key, card), self._drill(text), next_due)

    def answer(self, number: int, turn: str, grade: Grade, ago: timedelta = timedelta()) -> datetime | None:
        """Store an answer that the user gave some time ago; return when the drill is due again.
        The result is None, and nothing changes, if this turn of the drill has been answered, or the drill is missing.
        """
        with self._database.changing() as database:
            row = database.execute("SELECT key, card FROM drills WHERE id = ?", [number]).fetchone()
            if row is None or _turn(*row) != turn:
                return None
            before = self._card(number, row[1])
            time = self._now() - ago
            if before.last_review is not None:
                time = max(time, before.last_review)
            card, _ = self._scheduler.review_card(before, _RATINGS[grade], time)
            due: datetime = card.due
            database.execute(
                "UPDATE drills SET card = ?, due = ? WHERE id = ?",
                [json.dumps(card.to_dict()), due.timestamp(), number],
            )
            database.execute("INSERT INTO answers VALUES (?, ?, ?)", [number, time.timestamp(), grade])
        return due

    def _card(self, number: int, text: str | None) -> Card:
        if text is None:
            return Card(card_id=number, due=self._now())
        try:
            return Card.from_dict(parse_json(text, dict))
        except (ValueError, KeyError, TypeError):
            raise self._damaged() from None

    def _drill(self, text: str) -> Drill:
        try:
            drill: Drill = parse_json(text, Drill)
            board = drill.board()
            if not drill.good or not all(board.parse_uci(line[0]) for line in drill.good):
                raise ValueError("no move")
        except (ValueError, IndexError):
            raise self._damaged() from None
        return drill

    def _damaged(self) -> OptionError:
        return OptionError(f"{self.file} is damaged")


def _row(drill: Drill) -> tuple[object, ...]:
    board = drill.board()
    text = json.dumps(asdict(drill), separators=(",", ":"))
    return f"{drill.kind} {position_key(board)}", drill.kind, board.turn, drill.theme, drill.opening, text


def _turn(key: str, card: str | None) -> str:
    return hashlib.sha256(f"{key} {card}".encode()).hexdigest()[:16]


def _count(database: sqlite3.Connection) -> int:
    count: int = database.execute("SELECT count(*) FROM drills").fetchone()[0]
    return count
