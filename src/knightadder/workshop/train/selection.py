"""The positions of a run: its games are chosen once, and each pass reads them again.

Games take an eighth of the space of their positions, and are read several times as fast as a network learns. So a run
needs no file of positions and little memory, and begins immediately.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from knightadder.core.board.packed import PACKED
from knightadder.core.board.viriformat import HEADER
from knightadder.core.split_mix import split_mix
from knightadder.digests import content_digest
from knightadder.engine.errors import OptionError
from knightadder.files import reading, write_whole
from knightadder.foreign import parse_json
from knightadder.workshop.datagen.parts import Parts
from knightadder.workshop.datagen.reader import Filter, Reader
from knightadder.workshop.train.kernels import mix_in_later_scores

GAMES, VALIDATION, CHECKSUMS = "games.json", "validation.bin", "checksums.json"

_ONE_IN = 100  # one in this many games is held out for validation
_MOST_VALIDATION = 200_000  # maximum number of positions for validation; more would only cost time
_COUNTED = 200  # number of chunks whose positions are counted; the numbers in the other chunks are estimated


@dataclass(frozen=True, slots=True)
class Targets:
    """The settings for mixing later scores into scores: see `mix_in_later_scores`."""

    later_share: float
    scale: int


@dataclass(frozen=True, slots=True)
class Selection:
    """The games that a run learns from. Chunks that are added to a folder later are not used."""

    chunks: list[list[tuple[int, int, int]]]  # for each folder, the number, moves and CRC-32 of each chunk
    positions: int  # estimated number of positions for training: only some chunks are counted

    @classmethod
    def of(cls, folders: Sequence[Path]) -> Self:
        """Return all games of some folders, without counting positions; OptionError if a folder has no games."""
        chunks = [sorted(open_games(folder).chunks.values(), key=lambda chunk: chunk.number) for folder in folders]
        return cls([[(each.number, each.moves, each.crc) for each in listed] for listed in chunks], 0)


class SelectedGames:
    """Reads the games of a selection from folders of `knightadder datagen`; `moves` are the lengths of the chunks."""

    def __init__(self, folders: Sequence[Path], selection: Selection, wanted: Filter, targets: Targets) -> None:
        self._chunks = [
            (Parts(folder), number, crc)
            for folder, chunks in zip(folders, selection.chunks, strict=True)
            for number, _, crc in chunks
        ]
        self.moves = np.array([moves for chunks in selection.chunks for _, moves, _ in chunks], np.int64)
        self._wanted, self._targets, self._reader = wanted, targets, Reader()

    def training(self, chunks: Sequence[int]) -> NDArray[np.void]:
        """Return the positions for training from some chunks, in order; OptionError if the chunks cannot be read."""
        blocks = (block for chunk in chunks for block in self._blocks(self._words(chunk)[0]))
        return np.concatenate([np.empty(0, PACKED), *blocks])

    def validation(self, chunk: int) -> NDArray[np.void]:
        """Return the positions of a chunk's held-out games; OptionError if the chunk cannot be read."""
        return np.concatenate([np.empty(0, PACKED), *self._blocks(self._words(chunk)[1])])

    def _words(self, chunk: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        parts, number, crc = self._chunks[chunk]
        words = parts.read_chunk(number, crc)
        if self._targets.later_share:
            targets = self._targets
            mix_in_later_scores(words, targets.later_share, float(targets.scale), self._wanted.score_below)
        return split(words, number)

    def _blocks(self, words: NDArray[np.uint32]) -> Iterator[NDArray[np.void]]:
        for block in self._reader.blocks(words, self._wanted):
            yield block.copy()  # because the block is a view of a larger array


def has_positions(folder: Path) -> bool:
    """Return whether `choose` has finished in a run's folder."""
    return (folder / VALIDATION).exists()  # the file that is written last


def load_positions(folder: Path) -> tuple[Selection, NDArray[np.void]]:
    """Return the games of a run and its positions for validation; OptionError if their files are bad or changed."""
    checksums: dict[str, str] = _parsed(folder / CHECKSUMS, dict[str, str])
    for name in (GAMES, VALIDATION):
        if content_digest(folder / name) != checksums.get(name):
            raise _damaged(folder / name)
    selection: Selection = _parsed(folder / GAMES, Selection)
    return selection, np.frombuffer(bytearray((folder / VALIDATION).read_bytes()), PACKED)


def _parsed(file: Path, kind: Any) -> Any:
    with reading(file):
        data = file.read_bytes()
    try:
        return parse_json(data, kind)
    except ValueError:
        raise _damaged(file) from None


def _damaged(file: Path) -> OptionError:
    return OptionError(f"{file} is damaged: remove the folder to begin again")


def choose(games: Sequence[Path], wanted: Filter, most: int | None, targets: Targets, folder: Path, seed: int) -> None:
    """Choose the games of a run, and write the choice and the positions for validation into the run's folder.

    Whole games are held out for validation: one in a hundred, chosen by a hash of its number. About `most` positions
    are used for training: the first chunks of each folder, in proportion to the folder's size. OptionError if the games
    cannot be read, the files cannot be written, or there are too few positions.
    """
    selection = Selection.of(games)
    chunks, every = selection.chunks, SelectedGames(games, selection, wanted, targets)
    order = np.random.default_rng(seed).permutation(len(every.moves))
    counted = order[:_COUNTED]
    usable = sum(len(every.training([chunk])) for chunk in counted) / max(int(every.moves[counted].sum()), 1)
    if most is not None and usable:
        chunks = [_first(each, most / usable / int(every.moves.sum())) for each in chunks]
    moves = sum(moves for each in chunks for _, moves, _ in each)
    selection = Selection(chunks, round(usable * moves))

    chosen = SelectedGames(games, selection, wanted, targets)
    held_out, found = [np.empty(0, PACKED)], 0
    for chunk in np.random.default_rng(seed).permutation(len(chosen.moves)):
        held_out.append(chosen.validation(chunk))
        found += len(held_out[-1])
        if found >= _MOST_VALIDATION:
            break
    validation = np.concatenate(held_out)
    np.random.default_rng(seed).shuffle(validation)
    if not selection.positions or not len(validation):
        raise OptionError("there are too few games: a few hundred are needed")
    held = validation[:_MOST_VALIDATION].tobytes()
    listed = json.dumps(asdict(selection)).encode()
    checksums = {name: hashlib.sha256(data).hexdigest() for name, data in ((GAMES, listed), (VALIDATION, held))}
    write_whole(folder / GAMES, listed)
    write_whole(folder / CHECKSUMS, (json.dumps(checksums, indent=2) + "\n").encode())
    write_whole(folder / VALIDATION, held)


def _first(chunks: list[tuple[int, int, int]], share: float) -> list[tuple[int, int, int]]:
    """Return the first chunks with about this share of all moves in total; at least one chunk."""
    totals = np.cumsum([moves for _, moves, _ in chunks])
    return chunks[: max(1, int(np.searchsorted(totals, share * totals[-1] * (1 + 1e-9), "right")))]


def open_games(folder: Path) -> Parts:
    """Return the chunks of a folder of games; OptionError if there are none."""
    parts = Parts(folder)
    parts.load()
    parts.check_games()
    return parts


def split(words: NDArray[np.uint32], chunk: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Divide the games of a chunk, as ``core/board/viriformat.py`` describes them, into training and validation."""
    zeros = np.flatnonzero(words == 0)
    bounds = [0]
    while bounds[-1] < len(words):
        place = np.searchsorted(zeros, bounds[-1] + HEADER)
        bounds.append(int(zeros[place]) + 1 if place < len(zeros) else len(words))
    lengths = np.diff(bounds)
    numbers = np.arange(len(lengths), dtype=np.uint64) + np.uint64(chunk) * np.uint64(1 << 32)
    held_out = np.repeat(_is_held_out(numbers), lengths)
    return words[~held_out], words[held_out]


def _is_held_out(numbers: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Return which games are held out: one in `_ONE_IN`, chosen by a hash of the games' numbers."""
    chosen: NDArray[np.bool_] = split_mix(np.uint64(0), numbers + np.uint64(1)) % np.uint64(_ONE_IN) == 0
    return chosen
