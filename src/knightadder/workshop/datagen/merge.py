"""Makes one file of all chunks: every position once, in random order."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from knightadder.core.board.packed import PACKED
from knightadder.workshop.datagen.parts import Parts, write_whole

# Odd numbers without pattern, from the digits of pi as xxHash and others use them.
_FACTORS = np.array([0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63], np.uint64)


@dataclass(frozen=True, slots=True)
class Counts:
    """What has come of a merge: positions read and positions written, and the results of these."""

    read: int
    written: int
    wins: int
    draws: int
    losses: int


def merge(parts: Parts, file: Path, seed: int) -> Counts:
    """Write the data file.

    Parameters
    ----------
    parts : Parts
        The chunks.
    file : Path
        The file; one that exists is replaced at the end.
    seed : int
        Of the order.

    Returns
    -------
    Counts
        Of positions.

    Raises
    ------
    OptionError
        If a chunk cannot be read or the file cannot be written.
    """
    records = parts.read()
    chosen = first_of_each(records)
    np.random.default_rng(seed % (1 << 64)).shuffle(chosen)
    shuffled = records[chosen]
    write_whole(file, shuffled.view(np.uint8).data)
    losses, draws, wins = np.bincount(shuffled["result"], minlength=3)[:3].tolist()
    return Counts(len(records), len(shuffled), wins, draws, losses)


def first_of_each(records: NDArray[np.void]) -> NDArray[np.intp]:
    """Return where each position, counters aside, comes first.

    Positions are told apart by a hash of 64 bits: of a hundred million, one is lost with a probability of 1 in 4,000.
    """
    _, places = np.unique(hashes(records), return_index=True)
    return places


def hashes(records: NDArray[np.void]) -> NDArray[np.uint64]:
    """Hash the first 25 bytes of each record."""
    words = np.ascontiguousarray(records).view(np.uint64).reshape(-1, PACKED.itemsize // 8)
    mixed = np.zeros(len(words), np.uint64)
    columns = (words[:, 0], words[:, 1], words[:, 2], records["stm_ep"].astype(np.uint64))
    for column, factor in zip(columns, _FACTORS, strict=True):
        mixed = (mixed ^ column) * factor
        mixed ^= mixed >> np.uint64(29)
        mixed *= _FACTORS[0]
        mixed ^= mixed >> np.uint64(32)
    return mixed
