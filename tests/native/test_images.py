"""Images: what is written is read back, and what is damaged or does not fit is refused."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from knightadder.native import images

DIGEST = "0123456789abcdef" * 4
IMAGE = images.Image({"tiny.first": 0, "tiny.other": 1200}, b"\n".join(map(bytes, [range(200)] * 2)))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Write an image."""
    file = tmp_path / "tiny-x86-64-v2.image"
    images.write(file, IMAGE, DIGEST)
    return file


def test_what_is_written_is_read(file: Path) -> None:
    assert images.read(file, DIGEST) == IMAGE
    assert list(file.parent.iterdir()) == [file]


def test_what_killed_processes_have_left_is_removed(file: Path) -> None:
    for name in (f"{file.name}.123", f"{file.name}.lock", f"{file.name}.copy"):
        file.with_name(name).write_bytes(b"half")
    images.write(file, IMAGE, DIGEST)
    assert sorted(left.name for left in file.parent.iterdir()) == [file.name, f"{file.name}.copy", f"{file.name}.lock"]


def test_a_flipped_bit_is_noticed_wherever_it_is(file: Path) -> None:
    content, generator = file.read_bytes(), random.Random(1)
    for _ in range(1000):
        damaged = bytearray(content)
        damaged[generator.randrange(len(content))] ^= 1 << generator.randrange(8)
        file.write_bytes(damaged)
        assert images.read(file, DIGEST) is None


@pytest.mark.parametrize("length", [0, 1, 32, 64, 65, 100, 300])
def test_a_file_that_is_too_short_is_damaged(file: Path, length: int) -> None:
    content = file.read_bytes()
    for damaged in (content[:length], bytes(length)):
        file.write_bytes(damaged)
        assert images.read(file, DIGEST) is None


def test_there_may_be_none(tmp_path: Path) -> None:
    assert images.read(tmp_path / "none.image", DIGEST) is None
    assert images.read(tmp_path, DIGEST) is None


def test_an_image_fits_its_name_and_its_sources(file: Path) -> None:
    for name in ("tiny-x86-64-v3.image", "tiny-x86-64-v2-checked.image", "other-x86-64-v2.image"):
        assert images.read(Path(shutil.copy(file, file.with_name(name))), DIGEST) is None
    assert images.read(file, "1" * 64) is None


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    """Make two folders of sources."""
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        (folder / "inner").mkdir(parents=True)
        (folder / "inner" / "values.py").write_text("late_moves = 17, -3  # x86, v2\n", encoding="utf-8")
    return folders


def test_the_digest_tells_all_sources_apart(folders: list[Path]) -> None:
    one, two = folders
    seen = {images.digest(folders, ()), images.digest([one], ()), images.digest([two, one, two], ())}
    (one / "inner" / "values.py").write_text("late_moves = 18, -3  # x86, v2\n", encoding="utf-8")
    seen.add(images.digest(folders, ()))
    seen.add(images.digest([two, one], ()))
    (one / "inner" / "values.py").rename(one / "values.py")
    seen.add(images.digest(folders, ()))
    (two / "other.py").touch()
    seen.add(images.digest(folders, ()))
    assert len(seen) == 7
    (two / "notes.txt").touch()
    assert images.digest(folders, ()) in seen


def test_numbers_in_files_of_data_do_not_count(folders: list[Path]) -> None:
    data = ["inner/values.py"]
    file = folders[0] / data[0]
    before, text = images.digest(folders, data), file.read_text(encoding="utf-8")
    file.write_text(text.replace("17, -3", "-4, 999"), encoding="utf-8")
    assert images.digest(folders, data) == before
    found = {before}
    for name in ("later_moves", "late_moves1", "late_moves2"):
        file.write_text(text.replace("late_moves", name), encoding="utf-8")
        found.add(images.digest(folders, data))
    assert len(found) == 4
