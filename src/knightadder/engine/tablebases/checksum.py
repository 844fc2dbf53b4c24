"""The checksum at the end of a Syzygy file, which shows whether the file is intact.

The engine does not check it, because reading all files would take minutes. The checksum covers everything before it. It
is the CityHashCrc128 of the CityHashCrc256 hashes of each 16 MB. The format is Ronald de Man's
(https://github.com/syzygy1/tb).
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from knightadder.core.api.file_hashes import hash_128, hash_256
from knightadder.core.syzygy.probe import SYZYGY_TABLE
from knightadder.engine.tablebases.file import CHECKSUM, SyzygyFile, TableError
from knightadder.native.records import new_record

_PIECE = 1 << 24  # bytes hashed at a time


def check_table(path: Path, on_read: Callable[[int], object] = lambda size: None) -> None:
    """Check the header and the checksum of a file named after its material, such as ``KRPvKN.rtbw``.

    A `TableError`, one line without the file's name, is raised if the file cannot be read or is damaged. `on_read` is
    called with the size of each piece read, in bytes.
    """
    check_header(path)
    check_checksum(path, on_read)


def check_header(path: Path) -> None:
    """Check the header of a file as the engine does when it opens the file; TableError as for `check_table`."""
    SyzygyFile(path, new_record(SYZYGY_TABLE))


def check_checksum(path: Path, on_read: Callable[[int], object] = lambda size: None) -> None:
    """Check only the checksum of a file, which may have any name; see `check_table`."""
    hashes = []
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            if size == 0:
                raise TableError("empty")
            if size % 64 != CHECKSUM:
                raise TableError("truncated")
            file.seek(0)
            buffer = np.empty(min(size, _PIECE), np.uint8)
            for start in range(0, size - CHECKSUM, _PIECE):
                piece = buffer[: min(_PIECE, size - CHECKSUM - start)]
                if file.readinto(piece.data) < len(piece):
                    raise TableError("truncated")
                hashes.append(hash_256(piece))
                on_read(len(piece))
            expected = file.read(CHECKSUM)
    except OSError as error:
        raise TableError(error.strerror or "cannot be read") from None
    if not hashes or hash_128(np.concatenate(hashes).view(np.uint8)).tobytes() != expected:
        raise TableError("its checksum is wrong")
