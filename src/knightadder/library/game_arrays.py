"""Games of files by the thousand: as an iterable, as arrays, and as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knightadder.core.board.packed import PACKED
from knightadder.core.board.pgn_commands import NO_CLOCK, NO_SCORE
from knightadder.engine.errors import PositionError
from knightadder.extras import needed_by
from knightadder.files import replacing
from knightadder.foreign import rating_or_none
from knightadder.library.arrays import unpack_fens
from knightadder.library.blocks import blocks_of
from knightadder.library.boards import paths_of, warn
from knightadder.library.loading import load_core
from knightadder.pgn.game_records import (
    GameRecord,
    is_mate,
    move_names,
    moves_to_mate,
    pack_games,
    read_records,
    squares_of,
)
from knightadder.progress import reading_progress
from knightadder.text import one_line

if TYPE_CHECKING:
    import pandas
    import pyarrow

Files: TypeAlias = str | PathLike[str] | Iterable[str | PathLike[str]]
Rows: TypeAlias = Literal["games", "positions"]
_Columns: TypeAlias = dict[str, tuple[str, Any]]  # kind and values of each column, by name

#: The tags that tables of games have as columns by default.
TAGS = (
    "Event",
    "Site",
    "Date",
    "Round",
    "White",
    "Black",
    "Result",
    "WhiteElo",
    "BlackElo",
    "ECO",
    "Opening",
    "TimeControl",
    "Termination",
    "UTCDate",
    "UTCTime",
)
_RATINGS = ("WhiteElo", "BlackElo")  # tags whose columns have numbers
_GAMES = 2_000  # number of games in a part of a table


@dataclass(frozen=True, slots=True)
class GameArrays:
    """All positions of games, in their order.

    Attributes
    ----------
    positions : numpy.ndarray
        The position before each move, as ``PACKED``. Its score is the evaluation after the previous move, 0 if unknown.
        Its result is the result of the game, or a draw if the game has none.
    moves : numpy.ndarray
        The move played, in 16 bits: from-square | to-square << 6 | promotion << 12. Squares and pieces are numbered as
        in python-chess. Castling is the king's step, or king takes rook in Chess960.
    clocks : numpy.ndarray
        The mover's clock after the move, in seconds; NaN if unknown.
    scores : numpy.ndarray
        The evaluation after the move in centipawns, from White's view; -32768 if unknown. A mate is 32,000 minus the
        number of plies to it, and negative if Black mates.
    plies : numpy.ndarray
        Number of moves in the game before the position.
    games : numpy.ndarray
        The index of the position's game, from 0.
    """

    positions: NDArray[np.void]
    moves: NDArray[np.uint16]
    clocks: NDArray[np.float32]
    scores: NDArray[np.int16]
    plies: NDArray[np.int32]
    games: NDArray[np.int32]


def read_games(files: Files, *, broken: Literal["warn", "raise", "ignore"] = "warn", progress: bool = False) -> Games:
    """Read the games of PGN files, thousands per second. The files are read when the result is used, and again with
    each further use.

    Parameters
    ----------
    files : str, path, or iterable of these
        The files, in any encoding. They may be compressed: ``.pgn.gz``, ``.pgn.bz2``, ``.pgn.xz`` or ``.pgn.zst``.
    broken : str
        What to do about a broken game, which is always left out: ``"warn"`` issues a `PositionWarning` with its place
        and the reason, ``"raise"`` raises a `PositionError`, and ``"ignore"`` does nothing.
    progress : bool
        Whether to show progress on standard error: how much has been read, the speed, and the time left.

    Returns
    -------
    Games
        The games: an iterable of `GameRecord` that can also be converted to arrays or a table.

    Raises
    ------
    OptionError
        If a file cannot be read. This is raised when the file is read, not by this call.
    """
    if broken not in ("warn", "raise", "ignore"):
        raise ValueError(f"broken must be 'warn', 'raise' or 'ignore', not {broken!r:.60}")
    return Games(tuple(map(Path, paths_of("files", files))), broken, progress)


class Games:
    """The games of files; see `read_games`."""

    def __init__(self, files: Sequence[Path], broken: str, show: bool) -> None:
        self._files = files
        self._broken = broken
        self._show = show

    def __repr__(self) -> str:
        return one_line(f"<Games of {', '.join(map(str, self._files)):.200}>")

    def __iter__(self) -> Iterator[GameRecord]:
        load_core()
        if not self._show:
            for file in self._files:
                yield from self._read(file, None)
            return
        with reading_progress(self._files) as updates:
            for file, update in zip(self._files, updates, strict=True):
                yield from self._read(file, update)

    def _read(self, file: Path, update: Callable[[int, int], None] | None) -> Iterator[GameRecord]:
        for found in read_records(file, update=update):
            if isinstance(found, GameRecord):
                yield found
            elif self._broken != "ignore":
                text, fault = found
                message = f"{text.place(file)}, is left out: {fault}"
                if self._broken == "raise":
                    raise PositionError(message)
                warn(message)

    def to_arrays(self) -> GameArrays:
        """Return the position before each move of all games as arrays, which take 48 bytes per position."""
        parts = [_NO_ARRAYS, *(arrays for _, _, arrays in self._arrays())]
        names = [field.name for field in fields(GameArrays)]
        return GameArrays(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    def to_frame(
        self, rows: Rows = "games", *, tags: Iterable[str] | None = None, fen: bool = False
    ) -> pandas.DataFrame:
        """Make a table of all games.

        Parameters
        ----------
        rows : str
            ``"games"``: a row for each game. The columns are the index of the game (``game``), its tags, the number of
            its moves (``plies``), the moves in UCI notation (``moves``), and two lists: the clocks after the moves in
            seconds, and the scores after the moves as in `GameArrays`. ``"positions"``: a row for each move, with the
            position before it. The columns are ``game``, ``ply``, ``position`` (32 bytes of ``PACKED``), ``move`` in
            UCI notation, and the clock and evaluation after the move, if known: ``clock`` in seconds, ``cp`` in
            centipawns or ``mate`` in moves, both from White's view.
        tags : iterable of str, optional
            The tags that have a column. The default is fifteen common tags for games, and none for positions.
        fen : bool
            Whether positions have a column ``fen``, which takes some time.

        Raises
        ------
        OptionError
            If pandas is not installed.
        ValueError, TypeError
            If ``rows`` is neither of these, a tag has the name of another column, or ``fen`` is true for games.
        """
        with needed_by("to_frame", "notebook"):
            import pandas
        parts = [pandas.DataFrame(_plain(part)) for part in self._columns(rows, tags, fen)]
        return pandas.concat(parts, ignore_index=True)

    def to_arrow(self, rows: Rows = "games", *, tags: Iterable[str] | None = None, fen: bool = False) -> pyarrow.Table:
        """Make an Arrow table of all games, as used by polars and DuckDB, with the parameters of `to_frame`. An
        `OptionError` is raised if PyArrow is not installed.
        """
        with needed_by("to_arrow", "parquet"):
            import pyarrow
        return pyarrow.concat_tables([_arrow(part) for part in self._columns(rows, tags, fen)])

    def to_parquet(
        self, file: str | PathLike[str], rows: Rows = "games", *, tags: Iterable[str] | None = None, fen: bool = False
    ) -> None:
        """Write all games to a Parquet file, part by part, so that they need not all fit in memory.

        The file appears only when it is complete. The other parameters are those of `to_frame`. An `OptionError` is
        raised if PyArrow is not installed, or the file cannot be written.
        """
        with needed_by("to_parquet", "parquet"):
            from pyarrow.parquet import ParquetWriter
        writer = None
        with replacing(Path(fspath(file))) as beside:
            try:
                for part in self._columns(rows, tags, fen):
                    table = _arrow(part)
                    writer = writer or ParquetWriter(beside, table.schema, compression="zstd")
                    writer.write_table(table)
            finally:
                if writer:
                    writer.close()

    def _arrays(self) -> Iterator[tuple[list[GameRecord], int, GameArrays]]:
        """Return the games in parts, each with the index of its first game and its arrays."""
        first = 0
        for games in blocks_of(self, _GAMES):
            yield games, first, _arrays(games, first)
            first += len(games)

    def _columns(self, rows: Rows, tags: Iterable[str] | None, fen: bool) -> Iterator[_Columns]:
        """Return the columns of a table, part by part. There is at least one part, which may be empty."""
        if rows not in ("games", "positions"):
            raise ValueError(f"rows must be 'games' or 'positions', not {rows!r:.60}")
        if fen and rows == "games":
            raise ValueError("fen is only for rows='positions'")
        columns = _game_columns if rows == "games" else _position_columns
        names = (TAGS if rows == "games" else ()) if tags is None else _names(tags)
        for name in columns([], 0, _NO_ARRAYS, (), fen):
            if name in names:
                raise ValueError(f"tags must not contain {name!r}, because each table has a column {name!r}")
        empty = True
        for games, first, arrays in self._arrays():
            yield columns(games, first, arrays, names, fen)
            empty = False
        if empty:
            yield columns([], 0, _NO_ARRAYS, names, fen)


def _arrays(games: list[GameRecord], first: int) -> GameArrays:
    """Make the arrays of games; `first` is the index of the first game."""
    counts = np.array([game.plies for game in games])
    starts = np.cumsum(counts) - counts
    clocks = np.concatenate([game.raw_clocks for game in games])
    return GameArrays(
        pack_games(games),
        np.concatenate([squares_of(game.codes, game.chess960) for game in games]).astype(np.uint16),
        np.where(clocks == NO_CLOCK, np.nan, clocks / 1000).astype(np.float32),
        np.concatenate([game.raw_scores for game in games]),
        (np.arange(counts.sum()) - np.repeat(starts, counts)).astype(np.int32),
        np.repeat(np.arange(first, first + len(games), dtype=np.int32), counts),
    )


_NO_ARRAYS = GameArrays(*(np.empty(0, kind) for kind in (PACKED, np.uint16, np.float32, np.int16, np.int32, np.int32)))

# --- columns of tables ---------------------------------------------------------------------------------------------


def _game_columns(
    games: list[GameRecord], first: int, arrays: GameArrays, tags: tuple[str, ...], fen: bool
) -> _Columns:
    columns: _Columns = {"game": ("int32", np.arange(first, first + len(games), dtype=np.int32))}
    columns |= _tag_columns(games, tags)
    columns["plies"] = "int32", np.array([game.plies for game in games], np.int32)
    columns["moves"] = "string", [" ".join(game.uci) for game in games]
    columns["clocks"] = "seconds", [game.clocks for game in games]
    columns["scores"] = (
        "scores",
        [[None if score == NO_SCORE else score for score in game.raw_scores.tolist()] for game in games],
    )
    return columns


def _position_columns(
    games: list[GameRecord], first: int, arrays: GameArrays, tags: tuple[str, ...], fen: bool
) -> _Columns:
    columns: _Columns = {"game": ("int32", arrays.games), "ply": ("int32", arrays.plies)}
    counts = [game.plies for game in games]
    for name, (kind, values) in _tag_columns(games, tags).items():
        columns[name] = kind, np.ma.repeat(values, counts) if kind == "int32" else np.repeat(values, counts)
    columns["position"] = "position", arrays.positions
    if fen:
        columns["fen"] = "string", unpack_fens(arrays.positions)
    table = move_names()
    columns["move"] = "string", [table[code] for code in arrays.moves.tolist()]
    columns["clock"] = "float32", np.ma.masked_invalid(arrays.clocks)
    scores = arrays.scores.astype(np.int32)
    unknown, mates = scores == NO_SCORE, is_mate(scores)
    columns["cp"] = "int32", np.ma.array(scores, mask=unknown | mates)
    columns["mate"] = "int32", np.ma.array(moves_to_mate(scores), mask=unknown | ~mates)
    return columns


def _names(tags: Iterable[str]) -> tuple[str, ...]:
    names = tuple(tags)
    if isinstance(tags, str) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"tags must be several names, not {tags!r:.60}")
    return names


def _tag_columns(games: list[GameRecord], tags: tuple[str, ...]) -> _Columns:
    columns: _Columns = {}
    told = [game.tags for game in games] if tags else []
    for name in tags:
        values = [each.get(name) for each in told]
        if name in _RATINGS:
            numbers = [rating_or_none(value) for value in values]
            filled = np.array([number or 0 for number in numbers], np.int32)
            columns[name] = "int32", np.ma.array(filled, mask=[number is None for number in numbers])
        else:
            columns[name] = "string", np.array(values, object)
    return columns


def _plain(columns: _Columns) -> dict[str, Any]:
    """Convert columns for pandas: missing values are NaN or None."""
    plain: dict[str, Any] = {}
    for name, (kind, values) in columns.items():
        if kind == "position":
            values = [record.tobytes() for record in values]
        elif isinstance(values, np.ma.MaskedArray):
            values = np.ma.filled(values.astype(np.float64), np.nan) if np.ma.is_masked(values) else values.data
        plain[name] = values
    return plain


def _arrow(columns: _Columns) -> pyarrow.Table:
    import pyarrow

    types = {
        "int32": pyarrow.int32(),
        "float32": pyarrow.float32(),
        "string": pyarrow.string(),
        "seconds": pyarrow.list_(pyarrow.float32()),
        "scores": pyarrow.list_(pyarrow.int16()),
        "position": pyarrow.binary(PACKED.itemsize),
    }
    arrays = {}
    for name, (kind, values) in columns.items():
        if kind == "position":
            buffers = [None, pyarrow.py_buffer(values.tobytes())]
            arrays[name] = pyarrow.FixedSizeBinaryArray.from_buffers(types[kind], len(values), buffers)
        elif isinstance(values, np.ma.MaskedArray):
            arrays[name] = pyarrow.array(values.data, types[kind], mask=np.ma.getmaskarray(values))
        else:
            arrays[name] = pyarrow.array(values, types[kind])
    return pyarrow.table(arrays)
