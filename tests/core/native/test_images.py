"""Images: what is written is read back, and what is damaged or does not fit is refused."""

from __future__ import annotations

import platform
import random
import re
import shutil
import sys
from dataclasses import make_dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from knightadder.core.native import images
from knightadder.core.native.builder import TARGETS

IMAGE = images.Image(
    "x86-64-v2", "0" * 64, False, {"entries.game.play": 0, "board.perft.perft": 1200}, bytes(range(200))
)


@pytest.fixture
def content(tmp_path: Path) -> bytes:
    """Give the bytes of an image."""
    images.write(tmp_path, IMAGE)
    return (tmp_path / "core-x86-64-v2.image").read_bytes()


def test_what_is_written_is_read(tmp_path: Path, content: bytes) -> None:
    assert images.read(content) == IMAGE
    assert [file.name for file in tmp_path.iterdir()] == ["core-x86-64-v2.image"]


def test_a_flipped_bit_is_noticed_wherever_it_is(content: bytes) -> None:
    generator = random.Random(1)
    for _ in range(1000):
        damaged = bytearray(content)
        damaged[generator.randrange(len(content))] ^= 1 << generator.randrange(8)
        with pytest.raises(ValueError, match="damaged"):
            images.read(damaged)


@pytest.mark.parametrize("length", [0, 1, 32, 64, 65, 100, 300])
def test_a_file_that_is_too_short_is_damaged(content: bytes, length: int) -> None:
    with pytest.raises(ValueError, match="damaged"):
        images.read(content[:length])
    with pytest.raises(ValueError, match="damaged"):
        images.read(bytes(length))


def test_an_image_of_another_version_is_refused(tmp_path: Path) -> None:
    fields = [(name, object) for name in ("target", "digest", "functions", "code")]
    older = make_dataclass("Image", fields)("x86-64-v2", "0" * 64, {}, b"code")
    images.write(tmp_path, older)
    with pytest.raises(ValueError, match="of another version"):
        images.read((tmp_path / "core-x86-64-v2.image").read_bytes())


def test_an_image_fits_its_target_its_sources_and_its_checks(tmp_path: Path) -> None:
    image = replace(IMAGE, digest=images.digest())
    images.write(tmp_path, image)
    assert images.find(tmp_path, "x86-64-v2") == image
    assert images.find(tmp_path, "x86-64-v2", boundscheck=True) is None
    assert images.find(tmp_path, "x86-64-v3") is None
    (tmp_path / "core-x86-64-v2.image").rename(tmp_path / "core-x86-64-v3.image")
    assert images.find(tmp_path, "x86-64-v3") is None
    images.write(tmp_path, IMAGE)  # of other sources
    assert images.find(tmp_path, "x86-64-v2") is None


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a copy of the core's sources the one that is digested."""
    copy = tmp_path / "core"
    shutil.copytree(images.CORE, copy, ignore=shutil.ignore_patterns("*.image", "__pycache__"))
    monkeypatch.setattr(images, "CORE", copy)
    return copy


def new_digest() -> str:
    """Digest the sources without the memory of an earlier call."""
    return images.digest.__wrapped__()


def test_the_digest_tells_all_sources_apart(sources: Path) -> None:
    before = new_digest()
    assert before == images.digest()
    seen = {before}
    for file in (sources / "search" / "see.py", sources / "native" / "builder.py"):
        file.write_text(file.read_text(encoding="utf-8") + "\n", encoding="utf-8")
        seen.add(new_digest())
    (sources / "search" / "see.py").rename(sources / "board" / "see.py")
    seen.add(new_digest())
    assert len(seen) == 4


def test_values_of_parameters_are_data(sources: Path) -> None:
    before = new_digest()
    file = sources / "search" / "parameters.py"
    text = file.read_text(encoding="utf-8")
    file.write_text(re.sub(r"-?\d+", "17", text), encoding="utf-8")
    assert new_digest() == before
    file.write_text(text.replace("late_moves", "later_moves"), encoding="utf-8")
    assert new_digest() != before


@pytest.mark.parametrize(
    ("system", "machine", "without", "targets"),
    [
        ("linux", "x86_64", [], ["x86-64-v3", "x86-64-v2"]),
        ("darwin", "x86_64", ["AVX2"], ["x86-64-v2"]),
        ("win32", "AMD64", [], ["windows-x86-64-v3", "windows-x86-64-v2"]),
        ("win32", "AMD64", ["FMA3"], ["windows-x86-64-v2"]),
        ("linux", "x86_64", ["AVX2", "POPCNT"], []),
        ("linux", "aarch64", ["AVX2", "POPCNT", "SSE42"], ["aarch64"]),
        ("darwin", "arm64", [], ["aarch64"]),
        ("win32", "ARM64", [], []),
        ("linux", "riscv64", [], []),
    ],
)
def test_a_machine_gets_what_its_processor_runs(
    monkeypatch: pytest.MonkeyPatch, system: str, machine: str, without: list[str], targets: list[str]
) -> None:
    features = pytest.importorskip(
        "numpy._core._multiarray_umath" if np.__version__ >= "2" else "numpy.core._multiarray_umath"
    )
    has = {name: name not in without for name in ("AVX2", "FMA3", "SSE42", "POPCNT")}
    monkeypatch.setattr(features, "__cpu_features__", has)
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    assert images.host_targets() == targets
    assert set(targets) <= set(TARGETS)
