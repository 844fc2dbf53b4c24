"""Adds games to an index: see `knightadder.library.explorer_file`."""

from __future__ import annotations

import json
import math
import sqlite3
import sys
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knightadder.core.api.index_queries import INDEXED
from knightadder.core.board.pgn_commands import NO_CLOCK
from knightadder.core.board.pgn_reader import RESULTS
from knightadder.digests import content_digest
from knightadder.engine.errors import EngineError
from knightadder.foreign import NotNegative, converted, rating_or_none
from knightadder.library import explorer_file
from knightadder.library.blocks import blocks_of
from knightadder.library.dates import date_code
from knightadder.library.explorer_file import CHUNK, digests_of, pack_chunk, short_keys
from knightadder.library.game_filter import SPEEDS
from knightadder.pgn.bulk import keys_in
from knightadder.pgn.game_records import GameRecord, read_records, spans
from knightadder.pgn.games import tell_left_out, tell_notes
from knightadder.progress import Read
from knightadder.review.clocks import is_in_minutes, time_control
from knightadder.text import counted, plain_name

_KEPT = 50_000  # number of games to collect before they are written
_REPLAYED = 2_000  # number of games whose positions are computed together


@dataclass
class Counts:
    """Numbers of games: read, with a result, without a result, unreadable, and added to the index."""

    read: int = 0
    sound: int = 0
    unfinished: int = 0
    broken: int = 0
    added: int = 0

    def __str__(self) -> str:
        left_out = {
            "already there": self.sound - self.added,
            "without a result": self.unfinished,
            "broken": self.broken,
        }
        texts = [f"{count} {name}" for name, count in left_out.items() if count]
        return f"{counted(self.added, 'game')} added" + (f"; left out: {', '.join(texts)}" if texts else "")

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(one + two for one, two in zip(astuple(self), astuple(other), strict=True)))


@dataclass
class _Games:
    """Games that are not written yet, and their positions and moves."""

    source: list[str] = field(default_factory=list)  # digest of the file of each game
    tags: list[dict[str, str]] = field(default_factory=list)
    moves: list[NDArray[np.uint16]] = field(default_factory=list)
    facts: list[tuple[int, ...]] = field(default_factory=list)
    digests: list[int] = field(default_factory=list)
    keys: list[NDArray[np.int64]] = field(default_factory=list)  # keys of all positions
    owners: list[NDArray[np.int64]] = field(default_factory=list)  # for each key, the index of its game
    played: list[NDArray[np.uint16]] = field(default_factory=list)


class Indexer:
    """Adds games to an index, tens of thousands per transaction, and records how far each file has been read.

    `games` is the number of games in the index.
    """

    def __init__(self, database: sqlite3.Connection, plies: int) -> None:
        self._database = database
        self._plies = plies
        rows = database.execute("SELECT digest, read, sound, unfinished, broken, added, whole FROM sources").fetchall()
        counts = (NotNegative,) * 6
        self._sources = {
            digest: (Counts(*numbers), bool(whole))
            for digest, *numbers, whole in converted(rows, list[tuple[str, *counts]])  # type: ignore[valid-type]
        }
        parts = [digests_of(raw) for (raw,) in database.execute("SELECT digests FROM games")]
        self._known = np.sort(np.concatenate([np.empty(0, np.int64), *parts]))  # digests of the games in the index
        self.games = len(self._known)
        self._games = _Games()

    def read(self, files: Sequence[tuple[str, Path]], updates: Sequence[Read]) -> Counts:
        """Read the remaining games of files, each given by its name for the user and its path; return all counts."""
        total = Counts()
        digests = []
        for (name, file), update in zip(files, updates, strict=True):
            digest = content_digest(file)
            counts, whole = self._sources.get(digest, (Counts(), False))
            if whole:
                total += replace(counts, added=0)
                continue
            if counts.read:
                print(f"Continuing {name} after {counted(counts.read, 'game')}", file=sys.stderr)
            self._sources[digest] = counts, False
            try:
                self._read_file(digest, name, file, update)
            except EngineError:  # the file is damaged; the games before the damage count
                self.keep()
                raise
            self._sources[digest] = counts, True
            digests.append(digest)
        self.keep()
        return sum((self._sources[digest][0] for digest in digests), total)

    def _read_file(self, digest: str, name: str, file: Path, update: Read) -> None:
        counts, _ = self._sources[digest]
        size = min(_KEPT, _REPLAYED)
        for found in blocks_of(islice(read_records(file, name, update), counts.read, None), size):
            games = []
            for record in found:
                if isinstance(record, GameRecord):
                    if record.notes:
                        tell_notes(name, record.source, record.notes)
                    games.append(record)
                else:
                    counts.broken += 1
                    tell_left_out(name, *record)
            self._add(digest, games, counts)
            counts.read += len(found)
            if len(self._games.tags) >= _KEPT:
                self.keep()

    def _add(self, source: str, records: list[GameRecord], counts: Counts) -> None:
        """Collect the games that have a result, and compute the positions of all in one call."""
        games = self._games
        if not records:
            return
        first = len(games.tags)
        places = np.full(len(records), -1, np.int64)
        for index, record in enumerate(records):
            read = _read_game(record)
            if read is None:
                counts.unfinished += 1
                continue
            counts.sound += 1
            places[index] = len(games.tags)
            tags, facts, digest = read
            games.source.append(source)
            games.tags.append(tags)
            games.moves.append(record.codes.copy())
            games.facts.append(facts)
            games.digests.append(digest)
        if len(games.tags) == first:
            return
        lengths = np.array([record.plies for record in records])
        keys = np.concatenate([keys_in(block, which) for block, which in spans(records)])
        codes = np.concatenate([record.codes for record in records])
        plies = np.arange(len(keys)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        owners = np.repeat(places, lengths)
        which = (owners >= 0) & (plies < self._plies)
        games.keys.append(short_keys(keys[which]))
        games.owners.append(owners[which])
        games.played.append(codes[which])

    def keep(self) -> None:
        """Write the games that were read, and how far each file has been read."""
        games, self._games = self._games, _Games()
        self._database.execute("BEGIN IMMEDIATE")
        if games.tags:
            self._write(games)
        rows = [(digest, *astuple(counts), whole) for digest, (counts, whole) in self._sources.items()]
        self._database.executemany("INSERT OR REPLACE INTO sources VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        self._database.execute("COMMIT")
        self.games = len(self._known)

    def _write(self, games: _Games) -> None:
        database = self._database
        digests = np.array(games.digests, np.int64)
        _, firsts = np.unique(digests, return_index=True)
        new = np.zeros(len(digests), bool)
        new[firsts] = True
        new &= ~np.isin(digests, self._known)
        if not new.any():
            return
        chosen = np.flatnonzero(new).tolist()
        for index in chosen:
            self._sources[games.source[index]][0].added += 1
        first = len(self._known)
        facts = self._facts([games.tags[index] for index in chosen], [games.facts[index] for index in chosen])
        database.execute(
            "INSERT INTO games VALUES (?, ?, ?)", (first, facts.tobytes(), digests[new].astype("<i8").tobytes())
        )
        rows = []
        for begin in range(0, len(chosen), CHUNK):
            part = chosen[begin : begin + CHUNK]
            body = pack_chunk([games.tags[index] for index in part], [games.moves[index] for index in part])
            rows.append((first + begin, body))
        database.executemany("INSERT INTO texts VALUES (?, ?)", rows)
        numbers = np.where(new, first + np.cumsum(new) - 1, -1)
        keys, owners, played = (np.concatenate(each) for each in (games.keys, games.owners, games.played))
        which = new[owners]
        lists = _last_moves(keys[which], numbers[owners[which]].astype(np.uint32), played[which])
        if len(lists[0]):
            explorer_file.add_run(database, first, *lists)
        self._known = np.sort(np.concatenate([self._known, digests[new]]))

    def _facts(self, tags: list[dict[str, str]], facts: list[tuple[int, ...]]) -> NDArray[np.void]:
        """Return the facts about games as records of the core, in which players are numbers."""
        names = {name for each in tags for name in (each.get("White", "?"), each.get("Black", "?"))}
        plain = {name: plain_name(name) for name in names}
        rows = sorted((text, name) for name, text in plain.items())
        self._database.executemany("INSERT OR IGNORE INTO players (plain, name) VALUES (?, ?)", rows)
        wanted = json.dumps([text for text, _ in rows])
        query = "SELECT plain, id FROM players WHERE plain IN (SELECT value FROM json_each(?))"
        numbers = dict(self._database.execute(query, (wanted,)))
        found = np.zeros(len(tags), INDEXED)
        for index, name in enumerate(("date", "white_elo", "black_elo", "result", "speed")):
            found[name] = [each[index] for each in facts]
        for color in ("White", "Black"):
            found[color.lower()] = [numbers[plain[each.get(color, "?")]] for each in tags]
        return found


def _last_moves(keys: Any, games: Any, moves: Any) -> tuple[Any, Any, Any]:
    """If a position occurs several times in a game, keep only the last move that the game played there."""
    order = np.lexsort((np.arange(len(keys)), games, keys))
    keys, games, moves = keys[order], games[order], moves[order]
    last = np.ones(len(keys), bool)
    last[:-1] = (keys[1:] != keys[:-1]) | (games[1:] != games[:-1])
    return keys[last], games[last], moves[last]


def _read_game(game: GameRecord) -> tuple[dict[str, str], tuple[int, ...], int] | None:
    """Return the tags of a game, the facts that the filters need, and the game's digest; None if it has no result."""
    result = game.result
    if result not in RESULTS[1:4]:
        return None
    tags = game.tags
    tags["Result"] = result
    if game.chess960:
        tags["Variant"] = "Chess960"
    elos = (rating_or_none(tags.get(name)) or 0 for name in ("WhiteElo", "BlackElo"))
    clock = game.raw_clocks[:2].max(initial=NO_CLOCK)
    speed = _speed(tags.get("TimeControl", ""), None if clock == NO_CLOCK else int(clock) // 1000)
    return tags, (_date(tags), *elos, RESULTS.index(result), speed), game.digest


def _date(tags: Mapping[str, str]) -> int:
    """Return the date of a game; 0 if it is not known. Lichess's older files have only UTCDate."""
    return date_code(tags.get("Date", "")) or date_code(tags.get("UTCDate", ""))


@cache
def _speed(control: str, clock: int | None) -> int:
    """Return the speed that a tag TimeControl means as a number: its place in `SPEEDS`, from 1; 0 if unknown.
    `clock` is the highest of the first clocks, in seconds.
    """
    if control.strip() == "-":  # correspondence games on Lichess
        return len(SPEEDS)
    times = time_control(control)
    if times is None:
        return 0
    base, increment = times
    seconds = base * (60 if is_in_minutes(base, increment, clock) else 1) + 40 * increment
    return next(number for number, most in enumerate(SPEEDS.values(), 1) if seconds < most or most == math.inf)
