"""The folder of a run's games: a file for each chunk, a list of the chunks, and the settings of the run."""

from __future__ import annotations

import contextlib
import json
import os
import zlib
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import knightadder
from knightadder.core.board.viriformat import HEADER
from knightadder.digests import source_digest
from knightadder.engine.errors import OptionError
from knightadder.files import (
    append_whole,
    doing,
    locked,
    make_folder,
    reading,
    remove_left_behind,
    without_links,
    write_whole,
    writing,
)
from knightadder.foreign import NotNegative, parse_json
from knightadder.runs import claim_folder
from knightadder.text import tell

FORMAT = 2  # format 1 contained positions instead of games

_SETTINGS = "settings.json"
_LIST = "chunks.jsonl"


@dataclass(frozen=True, slots=True)
class Chunk:
    """The entry of a chunk in the list: its number from 0, games and moves, and its file's size in bytes and CRC-32."""

    number: NotNegative
    games: NotNegative
    moves: NotNegative
    size: NotNegative
    crc: NotNegative
    engine: str  # version of the engine that played (see `engine_version`), or the PGN file of the games


@cache
def engine_version() -> str:
    """Return the package's version and a digest of the core, which is the same on all machines."""
    return f"{knightadder.__version__}-{source_digest(folders=('core',))}"


class Parts:
    """The folder of a run, which need not exist yet, and its chunks by number."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.chunks: dict[int, Chunk] = {}
        self.moves = 0  # moves in all chunks: the number of positions with a score
        self._totals = [0]  # item n is the number of moves in the first n chunks, up to the first missing chunk
        self.damaged: list[Path] = []  # files whose size differs from the list
        self.lost: list[Path] = []  # files in the list that are missing in the folder

    def load(self) -> None:
        """Read the list of chunks; OptionError if it cannot be read."""
        file = self.folder / _LIST
        self.chunks, self.damaged, self.lost = {}, [], []
        with doing("use", self.folder):
            # An incomplete last line was left by a crash; its chunk is played again.
            lines = file.read_bytes().rpartition(b"\n")[0].splitlines() if file.exists() else []
            sizes = {entry.name: entry.stat().st_size for entry in os.scandir(self.folder)} if lines else {}
        for place, line in enumerate(lines, 1):
            try:
                chunk: Chunk = parse_json(line, Chunk)
            except ValueError:
                reason = "remove this line, and its games are played again"
                raise OptionError(f"{file}, line {place} is damaged: {reason}") from None
            self.chunks[chunk.number] = chunk
        for number, chunk in list(self.chunks.items()):
            size = sizes.get(self.file(number).name)
            if size != chunk.size:
                del self.chunks[number]
                (self.lost if size is None else self.damaged).append(self.file(number))
        self._count()

    def check_games(self) -> None:
        """Raise OptionError if the loaded folder is missing, or contains no games."""
        if not self.folder.is_dir():
            raise OptionError(f"there is no folder {self.folder}")
        if not self.chunks:
            raise OptionError(f"there are no games in {self.folder}")

    def tell_left_out(self) -> None:
        """Say which files were damaged or missing when the list was read; their games are left out."""
        for file in (*self.damaged, *self.lost):
            tell(f"{file} is damaged or missing: its games are left out")

    def _count(self) -> None:
        self.moves, self._totals = sum(chunk.moves for chunk in self.chunks.values()), [0]
        self._extend_totals()

    def _extend_totals(self) -> None:
        while chunk := self.chunks.get(len(self._totals) - 1):
            self._totals.append(self._totals[-1] + chunk.moves)

    @contextlib.contextmanager
    def open(self, settings: dict[str, Any], restart: bool = False) -> Iterator[None]:
        """Create the folder or check that its settings are the same, and lock it for a ``with`` block.
        The settings determine the games. With `restart`, existing games are forgotten.
        """
        make_folder(self.folder, parents=False)
        with locked(self.folder):
            remove_left_behind(self.folder, "chunk-*")
            # The list is removed first, because chunks that are not in the list are ignored.
            files = sorted(filter(self.owns, self.folder.iterdir()), key=lambda file: file.name != _LIST)
            claim_folder(self.folder / _SETTINGS, {"format": FORMAT, **settings}, restart, files)
            self.load()
            self._mend_list()
            yield

    def _mend_list(self) -> None:
        """Rewrite the list if it names chunks that do not exist."""
        text = b"".join(map(_line, self.chunks.values()))
        file = self.folder / _LIST
        if not file.exists() or file.stat().st_size != len(text):
            write_whole(file, text)

    def file(self, number: int) -> Path:
        """Return the file of a chunk."""
        return self.folder / f"chunk-{number:06}.vf"

    def owns(self, file: Path) -> bool:
        """Return whether a file in the folder has the name of one of the run's own files."""
        name = file.name
        return without_links(file).parent == without_links(self.folder) and (
            name in (_SETTINGS, _LIST) or (name.startswith("chunk-") and name.endswith(".vf"))
        )

    def save(self, number: int, words: NDArray[np.uint32], games: int, source: str | None = None) -> Chunk:
        """Write a chunk's file, and return its entry, which the caller passes to `add`.
        The words are as ``core/board/viriformat.py`` describes them; the default of `source` is this engine.
        """
        data = words.tobytes()
        write_whole(self.file(number), data, tidy=False)  # `open` has already removed leftover files
        moves = len(words) - games * (HEADER + 1)
        return Chunk(number, games, moves, len(data), zlib.crc32(data), source or engine_version())

    def add(self, chunk: Chunk) -> None:
        """Add a chunk to the list; OptionError if that fails."""
        file = self.folder / _LIST
        with writing(file), file.open("ab", buffering=0) as stream:
            append_whole(stream, _line(chunk))
        self.chunks[chunk.number] = chunk
        self.moves += chunk.moves
        self._extend_totals()

    def missing(self) -> Iterator[int]:
        """Return an endless iterator over the numbers of missing chunks."""
        there = set(self.chunks)
        return (number for number in count() if number not in there)

    def moves_before(self, number: int) -> int:
        """Return the number of moves in the chunks before a number."""
        first = len(self._totals) - 1
        if number <= first:
            return self._totals[number]
        return self._totals[-1] + sum(self.chunks[each].moves for each in range(first, number) if each in self.chunks)

    def first(self, moves: int) -> int | None:
        """Return how many chunks, from number 0 on, contain this many moves; None if one of them is missing."""
        number = bisect_left(self._totals, moves)
        return number if number < len(self._totals) else None

    def drop_from(self, number: int) -> None:
        """Leave out this chunk and all later chunks; their files stay."""
        self.chunks = {chunk.number: chunk for chunk in self.chunks.values() if chunk.number < number}
        self._count()

    def other_versions(self) -> list[str]:
        """Return the different versions of the engine that played some of the chunks."""
        return sorted({chunk.engine for chunk in self.chunks.values()} - {engine_version()})

    def read(self) -> Iterator[NDArray[np.uint32]]:
        """Yield the games of each chunk, lowest number first, as ``core/board/viriformat.py`` describes them."""
        for number in sorted(self.chunks):
            yield self.read_chunk(number, self.chunks[number].crc)

    def read_chunk(self, number: int, crc: int) -> NDArray[np.uint32]:
        """Return the games of a chunk whose file has this CRC-32; OptionError as in `read`."""
        file = self.file(number)
        with reading(file):
            data = file.read_bytes()
        if zlib.crc32(data) != crc:
            raise OptionError(f"{file} is damaged: remove it, and its games are played again")
        return np.frombuffer(bytearray(data), np.uint32)


def _line(chunk: Chunk) -> bytes:
    return (json.dumps(asdict(chunk)) + "\n").encode()
