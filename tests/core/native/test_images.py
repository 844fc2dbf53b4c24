"""Images: what is written is read back, and what is damaged or does not fit is refused."""

from __future__ import annotations

import platform
import random
import re
import shutil
import sys
import sysconfig
from pathlib import Path

import pytest

from knightadder.native import images
from knightadder.native.builder import TARGETS
from knightadder.native.building import CoreError

IMAGE = images.Image({"entries.game.play": 0, "board.perft.perft": 1200}, b"\n".join(map(bytes, [range(200)] * 2)))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Write an image."""
    file = tmp_path / images.file_name("x86-64-v2")
    images.write(file, IMAGE)
    return file


def test_what_is_written_is_read(file: Path) -> None:
    assert images.read(file) == IMAGE
    assert list(file.parent.iterdir()) == [file]


def test_what_killed_processes_have_left_is_removed(file: Path) -> None:
    for name in (f"{file.name}.123", f"{file.name}.lock", f"{file.name}.copy"):
        file.with_name(name).write_bytes(b"half")
    images.write(file, IMAGE)
    assert sorted(left.name for left in file.parent.iterdir()) == [file.name, f"{file.name}.copy", f"{file.name}.lock"]


def test_a_flipped_bit_is_noticed_wherever_it_is(file: Path) -> None:
    content, generator = file.read_bytes(), random.Random(1)
    for _ in range(1000):
        damaged = bytearray(content)
        damaged[generator.randrange(len(content))] ^= 1 << generator.randrange(8)
        file.write_bytes(damaged)
        assert images.read(file) is None


@pytest.mark.parametrize("length", [0, 1, 32, 64, 65, 100, 300])
def test_a_file_that_is_too_short_is_damaged(file: Path, length: int) -> None:
    content = file.read_bytes()
    for damaged in (content[:length], bytes(length)):
        file.write_bytes(damaged)
        assert images.read(file) is None


def test_there_may_be_none(tmp_path: Path) -> None:
    assert images.read(tmp_path / "none.image") is None
    assert images.read(tmp_path) is None


def test_an_image_fits_its_target_its_checks_and_its_sources(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = {images.file_name(target, checks) for target in TARGETS for checks in (False, True)}
    assert len(names) == 2 * len(TARGETS)
    for name in names - {file.name}:
        assert images.read(Path(shutil.copy(file, file.with_name(name)))) is None
    monkeypatch.setattr(images, "digest", lambda: "1" * 64)
    assert images.read(file) is None


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a copy of the core's sources the one that is digested."""
    for name in ("CORE", "NATIVE"):
        copy = tmp_path / name.lower()
        shutil.copytree(getattr(images, name), copy, ignore=shutil.ignore_patterns("*.image*", "__pycache__"))
        monkeypatch.setattr(images, name, copy)
    return images.CORE


def new_digest() -> str:
    """Digest the sources without the memory of an earlier call."""
    return images.digest.__wrapped__()


def test_the_digest_tells_all_sources_apart(sources: Path) -> None:
    before = new_digest()
    assert before == images.digest()
    seen = {before}
    for file in (sources / "search" / "see.py", sources.parent / "native" / "builder.py"):
        file.write_text(file.read_text(encoding="utf-8") + "\n", encoding="utf-8")
        seen.add(new_digest())
    (sources / "search" / "see.py").rename(sources / "board" / "see.py")
    seen.add(new_digest())
    assert len(seen) == 4


def test_values_of_parameters_are_data(sources: Path) -> None:
    before = new_digest()
    file = sources / "search" / "parameters.py"
    text = file.read_text(encoding="utf-8")
    file.write_text(re.sub(r", -?\d+", ", 17", text), encoding="utf-8")
    assert new_digest() == before
    found = {before}
    for name in ("later_moves", "late_moves1", "late_moves2"):
        file.write_text(text.replace("late_moves", name), encoding="utf-8")
        found.add(new_digest())
    assert len(found) == 4


@pytest.mark.parametrize(
    ("system", "machine", "level", "target"),
    [
        ("linux", "x86_64", 3, "x86-64-v3"),
        ("darwin", "x86_64", 2, "x86-64-v2"),
        ("win32", "AMD64", 3, "windows-x86-64-v3"),
        ("win32", "AMD64", 2, "windows-x86-64-v2"),
        ("linux", "x86_64", 1, None),
        ("linux", "aarch64", None, "aarch64"),
        ("darwin", "arm64", None, "aarch64"),
        ("win32", "ARM64", None, None),
        ("linux", "riscv64", None, None),
    ],
)
def test_a_machine_gets_what_its_processor_runs(
    monkeypatch: pytest.MonkeyPatch, system: str, machine: str, level: int | None, target: str | None
) -> None:
    monkeypatch.setattr(images, "x86_64_level", lambda: level)
    monkeypatch.setattr(sys, "platform", system)
    # On Windows for ARM, this says ARM64 to an emulated Python for x86-64, too.
    monkeypatch.setattr(platform, "machine", lambda: "ARM64" if system == "win32" else machine)
    monkeypatch.setattr(sysconfig, "get_platform", lambda: f"win-{machine.lower()}")
    if target is None:
        with pytest.raises(CoreError, match="no compiled core for a processor of this kind"):
            images.host_target()
    else:
        assert images.host_target() == target
        assert target in TARGETS
