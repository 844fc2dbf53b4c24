"""Makes the index of games that the opening explorer reads: see `knightadder.library.explorer`."""

from __future__ import annotations

import argparse
import contextlib
import json
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from heapq import nsmallest
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from knightadder.arguments import declare, positive
from knightadder.digests import content_digest
from knightadder.engine.errors import OptionError, PositionError
from knightadder.files import locked, replacing
from knightadder.foreign import parse_json, whole_or_none
from knightadder.progress import Read, reading_progress, steps
from knightadder.runs import REMEDY, check_same_run, state_beside

if TYPE_CHECKING:
    import sqlite3

    import chess

    from knightadder.pgn.records import GameRecord

_PLIES = 60  # default number of plies of each game to index
_RESULTS = ("1-0", "1/2-1/2", "0-1")

# Headers that distinguish games with the same moves. UTCTime does so for games of a server.
_IDENTITY = ("Event", "Site", "Date", "Round", "White", "Black", "Result", "FEN", "UTCTime")

# SQLite's codes of errors that a damaged index causes: ERROR (a function that fails), CORRUPT, CONSTRAINT, MISMATCH and
# NOTADB.
_DAMAGE = {1, 11, 19, 20, 26}

# The state of an unfinished run: the new games, their moves, and the progress. On disk, the
# memory does not limit the number of games.
_STATE = """
CREATE TABLE played (key INTEGER, move INTEGER, game INTEGER, elo INTEGER);
CREATE TABLE run (identity TEXT, read INTEGER, sound INTEGER, unfinished INTEGER, broken INTEGER);
"""

# To add the state, attached as `new`, to an index whose last game was {last}.
_ADD = """
INSERT OR IGNORE INTO games
SELECT NULL, digest, white, black, white_elo, black_elo, result, year, event, site FROM new.games ORDER BY id
"""
_MERGE = """
INSERT INTO moves
SELECT key, move, sum(result = '1-0'), sum(result = '1/2-1/2'), sum(result = '0-1'),
    count(elo), ifnull(sum(elo), 0), max(year), group_concat(id) FILTER (WHERE place <= {most})
FROM (
    SELECT key, move, elo, games.id, result, year,
        row_number() OVER (PARTITION BY key, move ORDER BY {strength} DESC, games.id) AS place
    FROM new.played JOIN (SELECT id AS number, digest AS mark FROM new.games) ON number = played.game
    JOIN main.games AS games ON games.digest = mark
    WHERE games.id > {last}
)
WHERE true
GROUP BY key, move
ON CONFLICT (key, move) DO UPDATE SET
    white = white + excluded.white, draws = draws + excluded.draws, black = black + excluded.black,
    rated = rated + excluded.rated, ratings = ratings + excluded.ratings,
    year = max(ifnull(year, excluded.year), ifnull(excluded.year, year)), games = best(games, excluded.games)
"""
_FORMAT = 2  # of the state; 1 counted texts without a move as games, too
_KEPT = 10_000  # games after which the state is written


@dataclass
class Counts:
    """What became of the games: how many were read, have a result, have none, cannot be read, and were added."""

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
        return f"{self.added} games added" + (f"; left out: {', '.join(texts)}" if texts else "")


def add_command(kinds: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare ``book index``."""
    command = kinds.add_parser(
        "index",
        help="index games for the opening explorer",
        description="Index the games of PGN files by their positions, for `book ask`, the board (`play --explorer`) "
        "and the library. If the index exists, games that it does not contain yet are added.",
    )
    command.add_argument(
        "files",
        nargs="+",
        metavar="GAMES.pgn",
        help="games, also as .pgn.gz, .pgn.bz2, .pgn.xz or .pgn.zst; - is standard input",
    )
    command.add_argument(
        "-o", "--out", type=Path, required=True, metavar="GAMES.sqlite", help="index to write or to add to"
    )
    command.add_argument(
        "--plies",
        type=positive,
        metavar="N",
        help=f"number of plies of each game to index (default: {_PLIES}, or as in an existing index)",
    )
    declare(command, "--restart")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand and return the exit status.

    OptionError if a file cannot be read or written, or is no index, or the index has another number of plies;
    PositionError if there is no game to add to a new index.
    """
    from knightadder.pgn.files import game_files, opened

    out: Path = arguments.out
    with game_files(arguments.files) as files, locked(out):
        for _, file in files:
            with opened(file):  # raises if it cannot be read
                pass
        plies = _plies(out, arguments.plies)
        state = state_beside(out)
        if state is None:
            raise OptionError(f"cannot write {out}: it is not a regular file")
        if arguments.restart:
            _remove(state)
        identity = {"format": _FORMAT, "games": [content_digest(file) for _, file in files], "plies": plies}
        with _state(state, identity) as database:
            counts = Counts(*database.execute("SELECT read, sound, unfinished, broken FROM run").fetchone())
            if counts.read:
                print(f"Continuing after {counts.read} games", file=sys.stderr)
            with reading_progress([file for _, file in files]) as updates:
                _read(database, files, plies, counts, updates)
        try:
            with steps() as show:
                if sys.stderr.isatty():
                    show("sorting")
                games = _add(out, state, plies, counts)
        except PositionError:
            _remove(state)
            raise
        _remove(state)
    print(f"{out}: {games} games; {counts}")
    return 0


def _remove(file: Path) -> None:
    try:
        file.unlink(missing_ok=True)
    except OSError as error:
        raise OptionError(f"cannot remove {file}: {error.strerror}") from None


def _plies(out: Path, wanted: int | None) -> int:
    """Return the number of plies of each game to index; OptionError if the index has a different one."""
    from knightadder.library.explorer import Explorer

    if not out.exists():
        return wanted or _PLIES
    with Explorer(out) as explorer:
        if wanted not in (None, explorer.plies):
            raise OptionError(
                f"{out} has {explorer.plies} plies of each game: leave out --plies, or give a different --out"
            )
        return explorer.plies


@contextlib.contextmanager
def _connected(file: Path, damaged: str) -> Iterator[sqlite3.Connection]:
    """Open a database; SQLite's errors become an OptionError with the text `damaged` if the file is the cause."""
    import sqlite3

    try:
        with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as database:
            yield database
    except sqlite3.Error as error:
        if damaged and getattr(error, "sqlite_errorcode", 1) & 0xFF in _DAMAGE:
            raise OptionError(f"{damaged} ({error})") from None
        raise OptionError(f"cannot write {file}: {error}") from None  # such as a full disk


@contextlib.contextmanager
def _state(file: Path, identity: dict[str, object]) -> Iterator[sqlite3.Connection]:
    """Open the state of a run, a new one if there is none; OptionError if it belongs to a different run."""
    from knightadder.library.explorer import SCHEMA

    if not file.exists():
        with replacing(file) as beside:
            beside.touch()  # raises an error with the reason, which SQLite does not report
            with _connected(beside, "") as database:
                database.executescript(SCHEMA + _STATE)
                database.execute("INSERT INTO run VALUES (?, 0, 0, 0, 0)", (json.dumps(identity),))
    with _connected(file, f"{file} is damaged: {REMEDY}") as database:
        database.execute("PRAGMA synchronous = OFF")  # safe if the process is killed
        [found] = database.execute("SELECT identity FROM run").fetchone()
        check_same_run(file, parse_json(found), identity)
        yield database


def _read(
    database: sqlite3.Connection, files: Sequence[tuple[str, Path]], plies: int, counts: Counts, updates: Sequence[Read]
) -> None:
    """Read the remaining games of files, given after their names for the user, into the state of a run."""
    from knightadder.pgn.games import tell_left_out, tell_notes
    from knightadder.pgn.records import GameRecord, read_records

    found = (
        (name, record)
        for (name, file), update in zip(files, updates, strict=True)
        for record in read_records(file, name, update)
    )
    database.execute("BEGIN")
    for name, record in islice(found, counts.read, None):
        if isinstance(record, GameRecord):
            if record.notes:
                tell_notes(name, record.source, record.notes)
            _read_game(database, record, plies, counts)
        else:
            counts.broken += 1
            tell_left_out(name, *record)
        counts.read += 1
        if counts.read % _KEPT == 0:
            _keep(database, counts)
            database.execute("BEGIN")
    _keep(database, counts)


def _keep(database: sqlite3.Connection, counts: Counts) -> None:
    """Write the state of a run."""
    numbers = counts.read, counts.sound, counts.unfinished, counts.broken
    database.execute("UPDATE run SET read = ?, sound = ?, unfinished = ?, broken = ?", numbers)
    database.execute("COMMIT")


def _add(out: Path, state: Path, plies: int, counts: Counts) -> int:
    """Add the games of a run to an index, and return its number of games; known games are left out."""
    from knightadder.library.explorer import MOST_GAMES, SCHEMA, STRENGTH

    old = out.exists()
    with replacing(out) as beside:
        beside.touch()
        if old:
            shutil.copyfile(out, beside)
        with _connected(beside, f"cannot add to {out}: it is damaged: make it again" if old else "") as database:
            # SQLite need not be able to repair the copy: a broken one is deleted.
            database.execute("PRAGMA journal_mode = OFF")
            database.execute("PRAGMA synchronous = OFF")
            if not old:
                database.executescript(SCHEMA)
                database.execute("INSERT INTO settings VALUES (?)", (plies,))
            database.execute("ATTACH ? AS new", (str(state),))
            database.execute("BEGIN")
            [last] = database.execute("SELECT ifnull(max(id), 0) FROM games").fetchone()
            counts.added = database.execute(_ADD).rowcount
            strengths = dict(database.execute(f"SELECT id, {STRENGTH} FROM games"))

            def best(*texts: str) -> str:
                ids = {int(name) for text in texts for name in text.split(",")}
                return ",".join(map(str, nsmallest(MOST_GAMES, ids, key=lambda game: (-strengths[game], game))))

            database.create_function("best", 2, best, deterministic=True)
            database.execute(_MERGE.format(most=MOST_GAMES, strength=STRENGTH, last=last))
            [games] = database.execute("SELECT count(*) FROM games").fetchone()
            database.execute("COMMIT")
            if not games:
                raise PositionError(f"there is no game for the index: {counts}")
    return int(games)


def _read_game(database: sqlite3.Connection, game: GameRecord, plies: int, counts: Counts) -> None:
    """Store a game that has a result, and its moves."""
    headers, result = game.headers, game.result
    if result not in _RESULTS:
        counts.unfinished += 1
        return
    counts.sound += 1
    identity = [headers.get(name, "") for name in _IDENTITY] + [" ".join(game.uci)]
    digest = int.from_bytes(blake2b("\0".join(identity).encode(), digest_size=8).digest(), "big", signed=True)
    elos = _elo(headers, "BlackElo"), _elo(headers, "WhiteElo")  # index is a chess.Color
    names = (headers.get(name, "?") for name in ("White", "Black"))
    places = (headers.get(name, "?") for name in ("Event", "Site"))
    added = database.execute(
        "INSERT OR IGNORE INTO games VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (digest, *names, elos[True], elos[False], result, _year(headers), *places),
    )
    if not added.rowcount:
        return
    rows = [(key, move, added.lastrowid, elos[turn]) for key, (move, turn) in _played(game, plies).items()]
    database.executemany("INSERT INTO played VALUES (?, ?, ?, ?)", rows)


def _played(game: GameRecord, plies: int) -> dict[int, tuple[int, chess.Color]]:
    """Return each move and its player, by the position's key; for a repeated position, only the last time counts."""
    import numpy as np

    from knightadder.pgn.records import polyglot_moves

    table, turn = polyglot_moves(), game.board().turn
    keys = game.keys()[:plies].view(np.int64).tolist()  # see `key_of` of the explorer
    moves = zip(keys, game.codes[:plies].tolist(), strict=True)
    return {key: (table[code], turn ^ bool(ply % 2)) for ply, (key, code) in enumerate(moves)}


def _elo(headers: Mapping[str, str], name: str) -> int | None:
    """Return a player's rating; None if it is missing, unknown or impossible."""
    elo = whole_or_none(headers.get(name, "").strip())
    return elo if elo is not None and 0 < elo < 10_000 else None


def _year(headers: Mapping[str, str]) -> int | None:
    """Return the year of a game; None if it is not known. Lichess's older files have only UTCDate."""
    for name in ("Date", "UTCDate"):
        if year := whole_or_none(headers.get(name, "")[:4]):
            return year
    return None
