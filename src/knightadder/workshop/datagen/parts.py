"""The folder in which data are gathered: a file for each chunk of games, and the settings that all have in common."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knightadder.core.board.packed import PACKED
from knightadder.engine.errors import OptionError

FORMAT = 1

_SETTINGS = "settings.json"


class Parts:
    """The folder beside a data file, named like it with ``.parts`` at the end.

    Parameters
    ----------
    file : Path
        The data file.
    """

    def __init__(self, file: Path) -> None:
        self.folder = file.with_name(f"{file.name}.parts")

    def open(self, settings: dict[str, Any]) -> None:
        """Make the folder, or see that it belongs to a run with the same settings.

        Parameters
        ----------
        settings : dict
            What decides how the games go, as JSON can hold it.

        Raises
        ------
        OptionError
            If it belongs to another run, or cannot be read or made.
        """
        wanted = {"format": FORMAT, **settings}
        file = self.folder / _SETTINGS
        try:
            self.folder.mkdir(exist_ok=True)
            if not file.exists():
                write_whole(file, (json.dumps(wanted, indent=2) + "\n").encode())
                return
            text = file.read_text(encoding="utf-8")
        except OSError as error:
            raise OptionError(f"cannot use {self.folder}: {error.strerror}") from None
        except ValueError:
            text = ""
        try:
            found = json.loads(text)
            differing = [key for key in wanted if found.get(key) != wanted[key]]
        except (ValueError, AttributeError):
            raise OptionError(f"{file} does not hold the settings of a run") from None
        if differing:
            raise OptionError(f"{self.folder} was begun with other {', '.join(differing)}: give another file")

    def chunk(self, number: int) -> Path:
        """Name the file of a chunk."""
        return self.folder / f"chunk-{number:06}.bin"

    def save(self, number: int, records: NDArray[np.void]) -> None:
        """Write a chunk's file; OptionError if that cannot be done."""
        write_whole(self.chunk(number), records.tobytes())

    def chunks(self) -> list[Path]:
        """List the files of the chunks that are there, in order; OptionError if the folder cannot be read."""
        try:
            names = [entry.name for entry in self.folder.iterdir()]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise OptionError(f"cannot read {self.folder}: {error.strerror}") from None
        chunks = [self.folder / name for name in names if name.startswith("chunk-") and name.endswith(".bin")]
        return sorted(chunks, key=lambda chunk: (len(chunk.name), chunk.name))

    def missing(self) -> Iterator[int]:
        """Give the numbers of the chunks that are not there, without end."""
        there = set(self.chunks())
        return (number for number in count() if self.chunk(number) not in there)

    def positions(self) -> int:
        """Count the positions of all chunks.

        Raises
        ------
        OptionError
            If a file is no chunk.
        """
        return sum(_records(chunk) for chunk in self.chunks())

    def read(self) -> NDArray[np.void]:
        """Read the positions of all chunks, in order.

        Returns
        -------
        array of PACKED
            The positions.

        Raises
        ------
        OptionError
            If a file is no chunk, or cannot be read.
        """
        chunks = self.chunks()
        lengths = [_records(chunk) for chunk in chunks]
        records = np.empty(sum(lengths), PACKED)
        end = 0
        for chunk, length in zip(chunks, lengths, strict=True):
            try:
                records[end : end + length] = np.fromfile(chunk, PACKED, length)
            except (OSError, ValueError):
                raise OptionError(f"cannot read {chunk}") from None
            end += length
        return records


def _records(chunk: Path) -> int:
    """Return how many records a file has; OptionError if it is no chunk."""
    try:
        records, rest = divmod(chunk.stat().st_size, PACKED.itemsize)
    except OSError as error:
        raise OptionError(f"cannot read {chunk}: {error.strerror}") from None
    if rest:
        raise OptionError(f"{chunk} is damaged: remove it, and it will be played again")
    return records


def write_whole(file: Path, data: bytes | memoryview) -> None:
    """Write a file so that at any time it is there either whole or not at all.

    Raises
    ------
    OptionError
        If it cannot be written.
    """
    beside = file.with_name(f".{file.name}.tmp")
    try:
        beside.write_bytes(data)
        beside.replace(file)
    except OSError as error:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise OptionError(f"cannot write {file}: {error.strerror}") from None
