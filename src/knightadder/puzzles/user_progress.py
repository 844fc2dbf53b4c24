"""The user's progress with puzzles in an SQLite file: the answers, and a rating computed by Glicko-2."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from knightadder.user_file import UserFile, user_file

if TYPE_CHECKING:
    from sqlite3 import Connection

_APPLICATION = 0x4B41_505A  # the file's application_id in SQLite: "KAPZ"
_VERSION = 1  # version of the tables, in the file's user_version
# `rating`, `deviation` and `volatility` are the user's values after the answer.
_TABLES = """
CREATE TABLE IF NOT EXISTS answers (
    id INTEGER PRIMARY KEY, puzzle TEXT NOT NULL UNIQUE, time REAL NOT NULL, solved INTEGER NOT NULL,
    themes TEXT NOT NULL, rating REAL NOT NULL, deviation REAL NOT NULL, volatility REAL NOT NULL
);
"""
# A new user's values. With Glickman's deviation of 350, a single solved puzzle could raise the rating by 650. With 200,
# the largest step is 230, and ten answers can still move the rating by several hundred points.
_FIRST_RATING, _FIRST_DEVIATION, _FIRST_VOLATILITY = 1500.0, 200.0, 0.06
_LOWEST_DEVIATION = 45.0  # minimum deviation, as on Lichess, so that the rating can always change
_PERIOD = timedelta(days=1)  # without answers, the deviation grows with each period
_PUZZLE_DEVIATION = 350.0  # deviation of a puzzle's rating if the file has none: the mean error of our ratings
_PUZZLE_RATINGS = 100, 4000  # range of puzzle ratings that Glicko-2 computes with


@dataclass(frozen=True, slots=True)
class Standing:
    """The user's progress: rating and deviation, numbers of puzzles tried and solved, current and longest streak."""

    rating: float = _FIRST_RATING
    deviation: float = _FIRST_DEVIATION
    tried: int = 0
    solved: int = 0
    streak: int = 0
    best_streak: int = 0


@dataclass(frozen=True, slots=True)
class ThemeProgress:
    """The number of puzzles with a theme that the user has tried and solved."""

    theme: str
    tried: int
    solved: int


class PuzzleProgress:
    """The file of the user's answers, which is created if it is missing; OptionError if it cannot be used.
    Several threads and processes may use it. `now` returns the current time.
    """

    def __init__(self, file: Path | None = None, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self.file = file or user_file("puzzles.sqlite")
        self._now = now
        self._database = UserFile(self.file, "answers to puzzles", _APPLICATION, _VERSION, _TABLES)

    def standing(self) -> Standing:
        """Return the current standing."""
        with self._database.connected() as database:
            return self._standing(database)

    def _standing(self, database: Connection) -> Standing:
        tried, solved = database.execute("SELECT count(*), ifnull(sum(solved), 0) FROM answers").fetchone()
        player = _rested(_player(database), self._now().timestamp())
        streak = best = 0
        for (right,) in database.execute("SELECT solved FROM answers ORDER BY id"):
            streak = streak + 1 if right else 0
            best = max(best, streak)
        return Standing(player.rating, player.deviation, tried, solved, streak, best)

    def answered(self) -> set[str]:
        """Return the names of the puzzles that have been answered."""
        with self._database.connected() as database:
            return {name for (name,) in database.execute("SELECT puzzle FROM answers")}

    def themes(self) -> list[ThemeProgress]:
        """Return the progress with each theme, the most frequent first."""
        with self._database.connected() as database:
            rows = database.execute("SELECT themes, solved FROM answers").fetchall()
        counts: dict[str, list[int]] = {}
        for themes, solved in rows:
            for theme in themes.split():
                count = counts.setdefault(theme, [0, 0])
                count[0] += 1
                count[1] += solved
        return [ThemeProgress(name, *count) for name, count in sorted(counts.items(), key=lambda each: -each[1][0])]

    def answer(
        self,
        puzzle: str,
        solved: bool,
        themes: Sequence[str],
        rating: int | None,
        deviation: int | None = None,
        ago: timedelta = timedelta(),
    ) -> Standing:
        """Store the first answer to a puzzle, given by its name; return the new standing. Later answers do not count.
        `ago` is the time since the user gave it.

        If the puzzle has a rating, the user's rating changes as if after a game against the puzzle.
        """
        with self._database.changing() as database:
            known = database.execute("SELECT 1 FROM answers WHERE puzzle = ?", [puzzle]).fetchone()
            if not known:
                now = (self._now() - ago).timestamp()
                player = _updated(_player(database), now, solved, rating, deviation)
                database.execute(
                    "INSERT INTO answers (puzzle, time, solved, themes, rating, deviation, volatility) "
                    "VALUES (?, ?, ?, ?, ?, ?, ?)",
                    [puzzle, now, solved, " ".join(themes), *player],
                )
            return self._standing(database)


@dataclass(frozen=True, slots=True)
class _Player:
    """The user's rating, and the time of its last change: answers to puzzles without a rating do not change it."""

    rating: float
    deviation: float
    volatility: float
    time: float | None


def _player(database: Connection) -> _Player:
    row = database.execute(
        "SELECT rating, deviation, volatility, min(time) FROM answers GROUP BY rating, deviation, volatility "
        "ORDER BY max(id) DESC LIMIT 1"
    ).fetchone()
    return _Player(*row) if row else _Player(_FIRST_RATING, _FIRST_DEVIATION, _FIRST_VOLATILITY, None)


def _rested(player: _Player, now: float) -> _Player:
    """Return the user's values at a time: the deviation grows with each period without a rated answer."""
    from glicko2.math import phi_to_rd, rd_to_phi

    if player.time is None:
        return player
    idle = max(int((now - player.time) / _PERIOD.total_seconds()), 0)
    phi = math.hypot(rd_to_phi(player.deviation), player.volatility * math.sqrt(idle))
    return replace(player, deviation=min(phi_to_rd(phi), _FIRST_DEVIATION))


def _updated(
    player: _Player, now: float, solved: bool, rating: int | None, deviation: int | None
) -> tuple[float, float, float]:
    """Return rating, deviation and volatility after an answer: each answer is a rating period of Glicko-2."""
    from glicko2.math import mu_to_rating, phi_to_rd, rating_to_mu, rd_to_phi, update_rating

    if rating is None:
        return player.rating, player.deviation, player.volatility
    player = _rested(player, now)
    mu, phi, sigma = rating_to_mu(player.rating), rd_to_phi(player.deviation), player.volatility
    low, high = _PUZZLE_RATINGS
    puzzle = rating_to_mu(min(max(rating, low), high)), rd_to_phi(deviation or _PUZZLE_DEVIATION), float(solved)
    mu, phi, sigma = update_rating(mu, phi, sigma, [puzzle])
    spread = min(max(phi_to_rd(phi), _LOWEST_DEVIATION), _FIRST_DEVIATION)
    return mu_to_rating(mu), spread, sigma
