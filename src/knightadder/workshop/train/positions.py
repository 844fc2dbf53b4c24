"""The positions of a run: read from games once, shuffled, and kept in the run's folder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from knightadder.core.board.packed import PACKED
from knightadder.core.board.viriformat import HEADER
from knightadder.core.split_mix import split_mix
from knightadder.engine.errors import OptionError
from knightadder.foreign import parse_json
from knightadder.runs import content_digest, reading, write_whole
from knightadder.workshop.datagen.merge import write_shuffled
from knightadder.workshop.datagen.parts import Parts
from knightadder.workshop.datagen.reader import Filter, Reader
from knightadder.workshop.train.kernels import mix_in_later_scores

TRAINING, VALIDATION, CHECKSUMS = "training.bin", "validation.bin", "checksums.json"

_ONE_IN = 100  # games for each that is held out
_MOST_VALIDATION = 200_000  # positions: more would only cost time


@dataclass(frozen=True, slots=True)
class Positions:
    """The positions of a run.

    Attributes
    ----------
    training : array of PACKED
        Memory-mapped, in random order.
    validation : array of PACKED
        Positions of other games.
    """

    training: NDArray[np.void]
    validation: NDArray[np.void]


@dataclass(frozen=True, slots=True)
class Targets:
    """What becomes of the scores of games: see `mix_in_later_scores`.

    Attributes
    ----------
    later_share : float
        Share of what came later in the game; 0 leaves the scores as they are.
    scale : int
        Centipawns of an output of 1.
    """

    later_share: float
    scale: int


def has_positions(folder: Path) -> bool:
    """Return whether `gather` has finished in a run's folder."""
    return (folder / VALIDATION).exists()  # which is written last


def load_positions(folder: Path) -> Positions:
    """Return the positions in a run's folder.

    Raises
    ------
    OptionError
        If they cannot be read, or have changed since they were written.
    """
    arrays, checksums = [], _read_checksums(folder / CHECKSUMS)
    for name in (TRAINING, VALIDATION):
        file = folder / name
        with reading(file):
            size = file.stat().st_size
        damaged = not size or size % PACKED.itemsize or (name in checksums and content_digest(file) != checksums[name])
        if damaged:
            raise OptionError(f"{file} is damaged: remove the folder to begin again")
        arrays.append(np.memmap(file, PACKED, "r"))
    return Positions(arrays[0], np.array(arrays[1]))


def _read_checksums(file: Path) -> dict[str, str]:
    """Return the digests of the files' content by name; empty for a run of a version that kept none."""
    if not file.exists():
        return {}
    with reading(file):
        data = file.read_bytes()
    try:
        checksums: dict[str, str] = parse_json(data, dict[str, str])
    except ValueError:
        raise OptionError(f"{file} is damaged: remove the folder to begin again") from None
    return checksums


def gather(
    games: Sequence[Path],
    wanted: Filter,
    most: int | None,
    targets: Targets,
    folder: Path,
    seed: int,
    update: Callable[[int], None],
) -> None:
    """Read positions from games, and write those for training and for validation into a run's folder.

    Whole games are held out for validation: one of a hundred, chosen by a hash of its number. Of equal positions only
    one is kept.

    Parameters
    ----------
    games : sequence of Path
        Folders of `knightadder datagen`.
    wanted : Filter
        Which positions to use.
    most : int, optional
        Take so many positions for training at most, equal ones counted, and from each folder in proportion to its size.
    targets : Targets
        What becomes of the scores.
    folder : Path
        The run's folder.
    seed : int
        Seed of the order.
    update : callable
        Receives the number of moves read.

    Raises
    ------
    OptionError
        If the games cannot be read, the files cannot be written, or there are too few positions.
    """
    folders = [open_games(place) for place in games]
    available = sum(parts.moves for parts in folders)
    held_out: list[NDArray[np.void]] = []
    reader = Reader()

    def blocks() -> Iterator[NDArray[np.void]]:
        moves = taken = allowed = 0
        for parts in folders:
            allowed += parts.moves
            limit = None if most is None else most * allowed // available
            for number, words in zip(sorted(parts.chunks), parts.read(), strict=True):
                if taken == limit:
                    break
                if targets.later_share:
                    mix_in_later_scores(words, targets.later_share, float(targets.scale), wanted.score_below)
                training, validation = split(words, number)
                held_out.extend(records.copy() for records in reader.blocks(validation, wanted))
                for records in reader.blocks(training, wanted):
                    rest = len(records) if limit is None else limit - taken
                    taken += min(len(records), rest)
                    yield records[:rest]
                moves += parts.chunks[number].moves
                update(moves)

    shuffled = write_shuffled(blocks(), folder / TRAINING, min(most or available, available), seed)
    validation = np.concatenate([np.empty(0, PACKED), *held_out])
    np.random.default_rng(seed).shuffle(validation)
    if not shuffled.written or not len(validation):
        (folder / TRAINING).unlink()
        raise OptionError("there are too few games: at least some hundred are needed")
    held = validation[:_MOST_VALIDATION].tobytes()
    checksums = {TRAINING: content_digest(folder / TRAINING), VALIDATION: hashlib.sha256(held).hexdigest()}
    write_whole(folder / CHECKSUMS, (json.dumps(checksums, indent=2) + "\n").encode())
    write_whole(folder / VALIDATION, held)


def open_games(folder: Path) -> Parts:
    """Return the chunks of a folder of games; OptionError if there are none."""
    parts = Parts(folder)
    parts.load()
    if not parts.chunks:
        raise OptionError(f"there are no games in {folder}")
    return parts


def split(words: NDArray[np.uint32], chunk: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Divide the games of a chunk into those for training and those for validation.

    Parameters
    ----------
    words : array of uint32
        The games, as ``core/board/viriformat.py`` describes them.
    chunk : int
        Number of the chunk.
    """
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
    """Choose one of `_ONE_IN` games, by a hash of their numbers."""
    chosen: NDArray[np.bool_] = split_mix(np.uint64(0), numbers + np.uint64(1)) % np.uint64(_ONE_IN) == 0
    return chosen
