"""Writes the positions of all games to one file, each once, in random order."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from knightadder.core.board.packed import PACKED
from knightadder.core.split_mix import split_mix
from knightadder.engine.tablebases.file import allow_open_files
from knightadder.files import replacing
from knightadder.workshop.datagen.parts import Parts
from knightadder.workshop.datagen.reader import Filter, Reader

_SHARE = 4_000_000  # approximate number of positions shuffled at a time: 128 MB


@dataclass(slots=True)
class MergeCounts:
    """Counts of a merge: positions in the games, positions that passed the filter, positions written, and results."""

    moves: int = 0
    read: int = 0
    written: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0


def merge(parts: Parts, file: Path, wanted: Filter, seed: int, share: int = _SHARE) -> MergeCounts:
    """Write the positions of all games that pass the filter to a file, see `write_shuffled`, and return the counts."""
    reader = Reader()
    blocks = (records for words in parts.read() for records in reader.blocks(words, wanted))
    counts = write_shuffled(blocks, file, parts.moves, seed, share)
    counts.moves = parts.moves
    return counts


def write_shuffled(
    blocks: Iterable[NDArray[np.void]], file: Path, most: int, seed: int, share: int = _SHARE
) -> MergeCounts:
    """Write positions, given oldest first, to a file, 32 bytes each, and return the counts; OptionError if that fails.

    A random hash first divides the positions into parts of about `share` positions, which fit into memory; equal
    positions come into the same part. Then each part is deduplicated, shuffled and written. The last of equal positions
    is kept. `most` is an approximate upper bound of the number of positions. The file is replaced at the end; a device
    or a pipe is written directly.
    """
    chance = np.random.default_rng(seed % (1 << 64))
    key = chance.integers(1 << 64, dtype=np.uint64)
    counts = MergeCounts()
    shares = max(1, -(-most // share))
    allow_open_files(shares)
    with contextlib.ExitStack() as stack:
        whole = stack.enter_context(replacing(file))
        beside = None if whole.exists() else whole.parent  # no temporary file beside a device or a pipe
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix=f".{file.name}.", dir=beside))
        dealt = [stack.enter_context(open(Path(folder) / str(number), "w+b")) for number in range(shares)]
        for records in blocks:
            counts.read += len(records)
            places = (hashes(records) ^ key) % np.uint64(shares)
            for number in np.unique(places):
                dealt[number].write(records[places == number].tobytes())
        merged = stack.enter_context(whole.open("wb"))
        for stream in dealt:
            stream.seek(0)
            records = np.frombuffer(stream.read(), PACKED)
            stream.truncate(0)
            chosen = last_of_each(records)
            chance.shuffle(chosen)
            shuffled = records[chosen]
            merged.write(shuffled.view(np.uint8).data)
            losses, draws, wins = np.bincount(shuffled["result"], minlength=3)[:3].tolist()
            counts.written += len(shuffled)
            counts.wins += wins
            counts.draws += draws
            counts.losses += losses
    return counts


def last_of_each(records: NDArray[np.void]) -> NDArray[np.intp]:
    """Return the index of each position's last occurrence, ignoring the counters.

    Later games usually come from a newer engine or network, so their scores are better. Positions are compared by a
    64-bit hash. The chance that one of a hundred million positions is lost is 1 in 4,000.
    """
    _, places = np.unique(hashes(records)[::-1], return_index=True)
    return len(records) - 1 - places


def hashes(records: NDArray[np.void]) -> NDArray[np.uint64]:
    """Return hashes of the first 25 bytes of each record."""
    words = np.ascontiguousarray(records).view(np.uint64).reshape(-1, PACKED.itemsize // 8)
    mixed = np.zeros(len(words), np.uint64)
    for column in (words[:, 0], words[:, 1], words[:, 2], records["stm_ep"].astype(np.uint64)):
        mixed = split_mix(mixed, column)
    return mixed
