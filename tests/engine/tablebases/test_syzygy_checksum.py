"""Checksums of Syzygy files: those of real files agree, those of damaged ones do not."""

from __future__ import annotations

import errno
import os
import random
import shutil
from pathlib import Path

import numpy as np
import pytest

from knightadder.engine.tablebases.checksum import check_checksum, check_header, check_table
from knightadder.engine.tablebases.file import TableError
from knightadder.engine.tablebases.registry import SHIPPED

FILES = sorted(path.name for path in SHIPPED.glob("*.rtb?"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Give a sound file, to damage it."""
    return Path(shutil.copy(SHIPPED / "KQvK.rtbw", tmp_path))


@pytest.mark.parametrize("name", FILES)
def test_sound_files(name: str) -> None:
    read: list[int] = []
    check_table(SHIPPED / name, read.append)
    assert sum(read) == (SHIPPED / name).stat().st_size - 16


@pytest.mark.parametrize("name", FILES)
def test_a_changed_bit_anywhere(name: str, tmp_path: Path) -> None:
    data = (SHIPPED / name).read_bytes()
    generator = random.Random(name)
    path = tmp_path / name
    for place in [0, len(data) - 17, len(data) - 1, *generator.choices(range(len(data)), k=20)]:
        path.write_bytes(data[:place] + bytes([data[place] ^ 1 << generator.randrange(8)]) + data[place + 1 :])
        with pytest.raises(TableError, match=r"^its checksum is wrong$"):
            check_checksum(path)


def test_several_pieces(tmp_path: Path) -> None:
    """The checksum of a large file, the last piece of which is a short one; it comes from the reference code."""
    places = np.arange((1 << 24) + 64, dtype=np.uint32)
    content = (places ^ places >> 7 ^ places >> 15).astype(np.uint8).tobytes()
    path = tmp_path / "large"
    path.write_bytes(content + bytes.fromhex("28d3c9faa5007f702aef66f793866801"))
    read: list[int] = []
    check_checksum(path, read.append)
    assert read == [1 << 24, 64]


@pytest.mark.parametrize(
    ("cut", "problem"), [(0, "empty"), (16, "its checksum is wrong"), (79, "truncated"), (-1, "truncated")]
)
def test_shorter_files(file: Path, cut: int, problem: str) -> None:
    file.write_bytes(file.read_bytes()[:cut])
    with pytest.raises(TableError, match=f"^{problem}$"):
        check_checksum(file)


def test_a_whole_block_less(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-64])
    with pytest.raises(TableError):
        check_table(file)
    with pytest.raises(TableError, match=r"^its checksum is wrong$"):
        check_checksum(file)


def test_a_block_more_is_only_seen_by_the_checksum(file: Path) -> None:
    file.write_bytes(file.read_bytes() + bytes(64))
    check_header(file)
    with pytest.raises(TableError, match=r"^its checksum is wrong$"):
        check_table(file)


def test_a_file_with_the_name_of_another(file: Path) -> None:
    other = file.rename(file.with_name("KRvK.rtbw"))
    check_checksum(other)
    with pytest.raises(TableError, match="the pieces in its header do not match its name"):
        check_table(other)


def test_no_file(tmp_path: Path) -> None:
    for check in (check_checksum, check_table):
        with pytest.raises(TableError, match=f"^{os.strerror(errno.ENOENT)}$"):
            check(tmp_path / "KQvK.rtbw")
    (tmp_path / "KQvK.rtbw").mkdir()
    with pytest.raises(TableError):
        check_checksum(tmp_path / "KQvK.rtbw")
