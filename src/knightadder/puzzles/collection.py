"""A collection of puzzles to choose from by theme and rating: a small file in memory, or the index of a large file.

Reading the millions of puzzles of Lichess's database takes several seconds. So the place, rating and themes of each
puzzle are saved in an index in the user's cache folder. From then on, the database opens immediately.
"""

from __future__ import annotations

import atexit
import contextlib
import csv
import hashlib
import io
import json
import os
import shutil
import tempfile
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from knightadder.engine.errors import OptionError
from knightadder.files import make_folder, reading, replacing, without_links, writing
from knightadder.foreign import parse_json, whole_or_none
from knightadder.pgn.game_files import byte_lines, decoded_line, opened, without_compression
from knightadder.progress import progress
from knightadder.puzzles.puzzle import Puzzle
from knightadder.puzzles.reading import puzzle_of_row, read_puzzles

_LARGE = 1 << 20  # bytes; a smaller file is read completely, and each of its puzzles is checked
_TOLD = 5  # maximum number of broken lines that are reported one by one

# An index begins with this mark, whose number is the version. If the indexed file is compressed or not in UTF-8, the
# lines of the puzzles follow. Then come the rows, the `_Head` as JSON, and the length of the JSON in eight bytes.
_MARK = b"Knightadder puzzles 1\n"
_LENGTH = 8
# The place of a puzzle's line, the number of that line in the file, the rating (0 if unknown), and the index of the
# text that lists the puzzle's themes. Many puzzles share such a text.
_ROW = np.dtype([("offset", "<u8"), ("line", "<u4"), ("rating", "<u2"), ("themes", "<u4")])
_MOST_RATING = 9_999
_RANKS = 8
_UPDATE_EVERY = 20_000  # number of lines between two progress reports

_Rows: TypeAlias = npt.NDArray[np.void]


@dataclass(frozen=True, slots=True)
class PuzzleChoice:
    """A filter for puzzles: by theme, unless it is empty, and by rating, from `low` to `high`; None is no limit."""

    theme: str = ""
    low: int | None = None
    high: int | None = None


class PuzzleCollection:
    """Puzzles, numbered from 1. `rows` are as `_ROW` says; they refer to `themes` by index.
    `read` reads a puzzle by its index, from 0; ValueError, with a line for the user, if the puzzle is broken.
    """

    def __init__(self, rows: _Rows, themes: Sequence[str], read: Callable[[int], Puzzle]) -> None:
        self._rows = rows
        self._texts = [text.split() for text in themes]
        self._read = read
        self._having: dict[str, npt.NDArray[np.bool_]] = {}  # for each theme, which of `_texts` contain it

    @classmethod
    def of(cls, puzzles: Sequence[Puzzle]) -> PuzzleCollection:
        """Return the collection of some puzzles in memory."""
        texts: dict[str, int] = {}
        rows = np.zeros(len(puzzles), _ROW)
        rows["rating"] = [min(puzzle.rating or 0, _MOST_RATING) for puzzle in puzzles]
        rows["themes"] = [texts.setdefault(" ".join(puzzle.themes), len(texts)) for puzzle in puzzles]
        return cls(rows, list(texts), puzzles.__getitem__)

    def __len__(self) -> int:
        return len(self._rows)

    def puzzle(self, number: int) -> Puzzle:
        """Return a puzzle; ValueError if it is broken, OptionError if its file cannot be read."""
        return self._read(number - 1)

    @cached_property
    def themes(self) -> dict[str, int]:
        """The number of puzzles with each theme, by the theme's name in alphabetical order."""
        counts: dict[str, int] = {}
        for names, count in zip(
            self._texts, np.bincount(self._rows["themes"], minlength=len(self._texts)), strict=True
        ):
            for name in names:
                counts[name] = counts.get(name, 0) + int(count)
        return dict(sorted(counts.items()))

    @cached_property
    def ratings(self) -> tuple[int, int] | None:
        """The lowest and the highest rating; None if no puzzle has a rating."""
        known = self._rows["rating"][self._rows["rating"] > 0]
        return (int(known.min()), int(known.max())) if len(known) else None

    def numbers(self, choice: PuzzleChoice, after: int = 0) -> Iterator[int]:
        """Yield the numbers of the chosen puzzles: first the numbers after `after`, then those from 1 on."""
        chosen = np.ones(len(self), bool)
        if choice.theme:
            if choice.theme not in self._having:
                self._having[choice.theme] = np.array([choice.theme in names for names in self._texts], bool)
            chosen &= self._having[choice.theme][self._rows["themes"]]
        if choice.low is not None or choice.high is not None:
            low, high = choice.low or 1, _MOST_RATING if choice.high is None else choice.high
            chosen &= (self._rows["rating"] >= max(low, 1)) & (self._rows["rating"] <= high)
        found = np.flatnonzero(chosen) + 1
        at = int(np.searchsorted(found, after, side="right"))
        for part in (found[at:], found[:at]):
            yield from map(int, part)


def open_puzzles(file: Path, cache: Path | None = None) -> tuple[PuzzleCollection, list[str]]:
    """Open a file of puzzles, see `read_puzzles`; return the collection, and a line for the user about each fault.

    A large CSV file is indexed, with progress on standard error. The index is kept in `cache`, by default the user's
    cache folder. OptionError if the file cannot be read, or if a large file has no puzzles.
    """
    complaints: list[str] = []
    if file.is_file() and file.stat().st_size > _LARGE and without_compression(file).suffix.lower() == ".csv":
        collection = _open_large(file, cache or _cache_folder(), complaints)
    else:
        puzzles, complaints = read_puzzles(file)
        collection = PuzzleCollection.of(puzzles)
    return collection, complaints


def _cache_folder() -> Path:
    import platformdirs

    return platformdirs.user_cache_path("knightadder", appauthor=False) / "puzzles"


def _open_large(file: Path, cache: Path, complaints: list[str]) -> PuzzleCollection:
    """Open a large file by its index, made anew if missing or old; append lines about faults to `complaints`."""
    index = cache / f"{hashlib.sha256(os.fsencode(without_links(file))).hexdigest()[:16]}.index"
    found = _read_index(index, file)
    if found is not None:
        return found
    try:
        make_folder(cache)
        with replacing(index) as beside:
            complaints += _make_index(file, beside)
        found = _read_index(index, file)
    except OptionError as error:
        complaints.append(f"{error}, so the index of {file} is not kept")
    if found is not None:
        return found
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    complaints += _make_index(file, Path(folder, "index"))
    found = _read_index(Path(folder, "index"), file)
    if found is None:
        raise OptionError(f"{file} changed while it was read")
    return found


@dataclass(frozen=True, slots=True)
class _Head:
    """The description of an index. If the file's size or time is no longer the same, the file is indexed again."""

    size: int  # of the indexed file, in bytes
    time: int  # when the indexed file was last changed
    columns: list[str]  # names of the file's columns
    copied: bool  # whether the index contains the lines
    rows: int  # place of the rows in the index
    count: int
    themes: list[str]


def _read_index(index: Path, file: Path) -> PuzzleCollection | None:
    """Open an index; None if it is missing, damaged, of a different version, or older than the file."""
    try:
        with index.open("rb") as stream:
            if stream.read(len(_MARK)) != _MARK:
                return None
            stream.seek(-_LENGTH, io.SEEK_END)
            length = int.from_bytes(stream.read(_LENGTH), "little")
            stream.seek(-_LENGTH - length, io.SEEK_END)
            head: _Head = parse_json(stream.read(length), _Head)
        state = file.stat()
        if (head.size, head.time) != (state.st_size, state.st_mtime_ns) or not head.count:
            return None
        rows = np.memmap(index, _ROW, "r", head.rows, (head.count,))
    except (OSError, ValueError):
        return None
    lines = _Lines(file, index if head.copied else file, head.columns, rows)
    return PuzzleCollection(rows, head.themes, lines.puzzle)


@dataclass(frozen=True, slots=True)
class _Lines:
    file: Path
    place: Path  # the file that contains the lines: the indexed file or its index
    columns: list[str]
    rows: _Rows

    def puzzle(self, index: int) -> Puzzle:
        row = self.rows[index]
        with reading(self.place), self.place.open("rb") as stream:
            stream.seek(int(row["offset"]))
            line = decoded_line(stream.readline())
        try:
            return puzzle_of_row(dict(zip(self.columns, next(csv.reader([line])), strict=False)))
        except (csv.Error, StopIteration, ValueError) as error:
            raise ValueError(f"{self.file}, line {row['line']}: {error}") from None


def _make_index(file: Path, index: Path) -> list[str]:
    """Write the index of a file; return a line for the user about each fault. OptionError if that fails."""
    state = file.stat()
    offsets, lines, ratings, themes = array("Q"), array("L"), array("H"), array("L")
    texts: dict[bytes, int] = {}
    faults: list[str] = []
    with (
        writing(index),
        index.open("wb") as out,
        opened(file) as (stream, place),
        progress(state.st_size, unit="bytes", stderr=True) as update,
    ):

        def write(data: bytes) -> None:
            with writing(index):  # otherwise `opened` would report a full disk as a fault of the file
                out.write(data)

        write(_MARK)
        all_lines, plain = byte_lines(stream)
        copied = not plain or not isinstance(getattr(stream, "raw", None), io.FileIO)  # not a plain file
        first = next(all_lines, b"")
        columns = _columns(first)
        missing = [name for name in ("FEN", "Moves") if name not in columns]
        if missing:
            raise OptionError(f"cannot read {file}: there is no column {missing[0]}")
        fen, moves = columns.index("FEN"), columns.index("Moves")
        rating, theme = (columns.index(name) if name in columns else None for name in ("Rating", "Themes"))
        least = max(fen, moves, rating or 0, theme or 0) + 1
        offset = out.tell() if copied else len(first)
        for number, line in enumerate(all_lines, 2):
            here, offset = offset, offset + len(line)
            if copied:
                write(line)
            if number % _UPDATE_EVERY == 0:
                update(place(), f"{len(offsets):,} puzzles")
            fields = line.rstrip().split(b",") if b'"' not in line else [text.encode() for text in _columns(line)]
            if len(fields) < least or fields[fen].count(b"/") < _RANKS - 1 or b" " not in fields[moves]:
                if line.strip():
                    faults.append(f"{file}, line {number}: there is no puzzle")
                continue
            told = fields[rating] if rating is not None else b""
            offsets.append(here)
            lines.append(number)
            ratings.append(_rating(told))
            themes.append(texts.setdefault(fields[theme] if theme is not None else b"", len(texts)))
        rows = np.zeros(len(offsets), _ROW)
        for name, column in (("offset", offsets), ("line", lines), ("rating", ratings), ("themes", themes)):
            rows[name] = column
        names = [text.decode("utf-8", "replace") for text in texts]
        head = _Head(state.st_size, state.st_mtime_ns, columns, copied, out.tell(), len(rows), names)
        write(rows.tobytes())
        description = json.dumps(asdict(head)).encode()
        write(description + len(description).to_bytes(_LENGTH, "little"))
    if not len(rows):
        raise OptionError(f"there is no puzzle in {file}")
    more = len(faults) - _TOLD
    return faults[:_TOLD] + ([f"{file}: {more} more lines have no puzzle"] if more > 0 else [])


@lru_cache(_MOST_RATING)  # millions of puzzles have a few thousand ratings
def _rating(text: bytes) -> int:
    """Return a rating as `_ROW` stores it."""
    return min(whole_or_none(text.decode("utf-8", "replace")) or 0, _MOST_RATING)


def _columns(line: bytes) -> list[str]:
    """Split a CSV line into its values. A line that is not CSV has no values."""
    with contextlib.suppress(csv.Error):
        return next(csv.reader([decoded_line(line)]), [])
    return []
