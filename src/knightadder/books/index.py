"""Makes the index of games that the opening explorer reads: see `knightadder.library.explorer`."""

from __future__ import annotations

import argparse
import contextlib
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from heapq import nsmallest
from pathlib import Path
from typing import TYPE_CHECKING

from knightadder.arguments import positive
from knightadder.engine.book import encode
from knightadder.engine.errors import OptionError, PositionError
from knightadder.foreign import whole_or_none
from knightadder.progress import progress
from knightadder.runs import locked, replacing

if TYPE_CHECKING:
    import sqlite3

    import chess

    from knightadder.pgn.games import PgnGame

_PLIES = 60  # of each game, by default
_RESULTS = ("1-0", "1/2-1/2", "0-1")

# Headers that tell games with the same moves apart. UTCTime does so for games of a server.
_IDENTITY = ("Event", "Site", "Date", "Round", "White", "Black", "Result", "FEN", "UTCTime")

# SQLite's codes of errors that a damaged index causes: ERROR (a function that fails), CORRUPT, CONSTRAINT, MISMATCH and
# NOTADB.
_DAMAGE = {1, 11, 19, 20, 26}

# Which moves the new games have played: on disk, so that the memory does not limit the number of games.
_NEW_MOVES = "CREATE TEMP TABLE played (key INTEGER, move INTEGER, game INTEGER, elo INTEGER)"

_MERGE = """
INSERT INTO moves
SELECT key, move, sum(result = '1-0'), sum(result = '1/2-1/2'), sum(result = '0-1'),
    count(elo), ifnull(sum(elo), 0), max(year), group_concat(game) FILTER (WHERE place <= {most})
FROM (
    SELECT key, move, elo, game, result, year,
        row_number() OVER (PARTITION BY key, move ORDER BY {strength} DESC, game) AS place
    FROM played JOIN games ON games.id = game
)
WHERE true
GROUP BY key, move
ON CONFLICT (key, move) DO UPDATE SET
    white = white + excluded.white, draws = draws + excluded.draws, black = black + excluded.black,
    rated = rated + excluded.rated, ratings = ratings + excluded.ratings,
    year = max(ifnull(year, excluded.year), ifnull(excluded.year, year)), games = best(games, excluded.games)
"""


@dataclass
class Counts:
    """What became of the games that were read.

    Attributes
    ----------
    added, known, unfinished, broken : int
        Games that were added, that the index had already, that have no result, and that cannot be read.
    """

    added: int = 0
    known: int = 0
    unfinished: int = 0
    broken: int = 0

    def __str__(self) -> str:
        left_out = {"already there": self.known, "without a result": self.unfinished, "broken": self.broken}
        texts = [f"{count} {name}" for name, count in left_out.items() if count]
        return f"{self.added} games added" + (f"; left out: {', '.join(texts)}" if texts else "")


def add_command(kinds: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare ``book index``."""
    command = kinds.add_parser(
        "index",
        help="index games for the opening explorer",
        description="Index the games of PGN files by their positions, for `book ask`, the board (`play --explorer`) "
        "and the library. If the index is there, the games are added to it; those that it has already are left out.",
    )
    command.add_argument(
        "files", nargs="+", metavar="GAMES.pgn", help="games, also as .pgn.gz, .pgn.bz2 or .pgn.xz; - is standard input"
    )
    command.add_argument(
        "-o", "--out", type=Path, required=True, metavar="GAMES.sqlite", help="index to write or to add to"
    )
    command.add_argument(
        "--plies",
        type=positive,
        metavar="N",
        help=f"number of plies of each game to index (default: {_PLIES}, or as in the index)",
    )
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand and return the exit status.

    Raises
    ------
    OptionError
        If a file cannot be read or written, or is no index, or the index has another number of plies.
    PositionError
        If there is no game to add to a new index.
    """
    from knightadder.pgn.files import game_files

    out: Path = arguments.out
    counts = Counts()
    with game_files(arguments.files) as files, locked(out), _opened(out, arguments.plies) as (database, plies):
        _add(database, files, plies, counts)
        [games] = database.execute("SELECT count(*) FROM games").fetchone()
        if not games:
            raise PositionError(f"there is no game for the index: {counts}")
    print(f"{out}: {games} games; {counts}")
    return 0


@contextlib.contextmanager
def _opened(out: Path, plies: int | None) -> Iterator[tuple[sqlite3.Connection, int]]:
    """Open an index to write, a new one or a copy of the old one, which replaces it at the end; yield its plies too."""
    import sqlite3

    from knightadder.library.explorer import SCHEMA, Explorer

    old = out.exists()
    if old:
        with Explorer(out) as explorer:
            known = explorer.plies
        if plies not in (None, known):
            raise OptionError(f"{out} has {known} plies of each game: leave --plies out, or give another --out")
        plies = known
    plies = plies or _PLIES
    with replacing(out) as beside:
        beside.touch()  # raises with the reason, which SQLite does not tell
        if old:
            shutil.copyfile(out, beside)
        try:
            with contextlib.closing(sqlite3.connect(beside, isolation_level=None)) as database:
                # A broken copy is thrown away, so SQLite need not be able to repair it.
                database.execute("PRAGMA journal_mode = OFF")
                database.execute("PRAGMA synchronous = OFF")
                if not old:
                    database.executescript(SCHEMA)
                    database.execute("INSERT INTO settings VALUES (?)", (plies,))
                database.execute("BEGIN")
                yield database, plies
                database.execute("COMMIT")
        except sqlite3.Error as error:
            if old and getattr(error, "sqlite_errorcode", 1) & 0xFF in _DAMAGE:
                raise OptionError(f"cannot add to {out}: it is damaged, so make it again ({error})") from None
            raise OptionError(f"cannot write {out}: {error}") from None  # such as a full disk


def _add(database: sqlite3.Connection, files: Sequence[tuple[str, Path]], plies: int, counts: Counts) -> None:
    """Add the games of files, given after their names for the user, to an index."""
    from knightadder.library.explorer import MOST_GAMES, STRENGTH
    from knightadder.pgn.games import read_texts, sound_games

    total = sum(1 for _, file in files for _ in read_texts(file))
    database.execute(_NEW_MOVES)
    with progress(total, unit="games", stderr=True) as update:
        games = (game for name, file in files for game in sound_games(file, name))
        for number, game in enumerate(games, 1):
            if game is None:
                counts.broken += 1
            else:
                _add_game(database, game, plies, counts)
            update(number, "")
        update(total, "sorting")
        strengths = dict(database.execute(f"SELECT id, {STRENGTH} FROM games"))

        def best(*texts: str) -> str:
            ids = {int(name) for text in texts for name in text.split(",")}
            return ",".join(map(str, nsmallest(MOST_GAMES, ids, key=lambda game: (-strengths[game], game))))

        database.create_function("best", 2, best, deterministic=True)
        database.execute(_MERGE.format(most=MOST_GAMES, strength=STRENGTH))
        database.execute("DROP TABLE played")


def _add_game(database: sqlite3.Connection, game: PgnGame, plies: int, counts: Counts) -> None:
    """Add a game with a result that the index does not have, and note which moves it has played."""
    from knightadder.pgn.games import moves_of, result_of

    headers = game.headers
    result = result_of(game)
    if result not in _RESULTS:
        counts.unfinished += 1
        return
    moves = moves_of(game)
    identity = [headers.get(name, "") for name in _IDENTITY] + [" ".join(map(str, moves))]
    digest = int.from_bytes(blake2b("\0".join(identity).encode(), digest_size=8).digest(), "big", signed=True)
    elos = _elo(headers, "BlackElo"), _elo(headers, "WhiteElo")  # by chess.Color
    names = (headers.get(name, "?") for name in ("White", "Black"))
    places = (headers.get(name, "?") for name in ("Event", "Site"))
    added = database.execute(
        "INSERT OR IGNORE INTO games VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (digest, *names, elos[True], elos[False], result, _year(headers), *places),
    )
    if not added.rowcount:
        counts.known += 1
        return
    counts.added += 1
    rows = [(key, move, added.lastrowid, elos[turn]) for key, (move, turn) in _played(game, moves[:plies]).items()]
    database.executemany("INSERT INTO played VALUES (?, ?, ?, ?)", rows)


def _played(game: PgnGame, moves: Sequence[chess.Move]) -> dict[int, tuple[int, chess.Color]]:
    """Return what was played, and by whom, by the key of the position; of a repeated one, the last time."""
    from knightadder.library.explorer import key_of

    board = game.board()
    played = {}
    for move in moves:
        played[key_of(board)] = encode(board, move), board.turn
        board.push(move)
    return played


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
