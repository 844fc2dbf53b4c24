"""Sound files pass, and of each bad one there is a line."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from pathlib import Path

import pytest

from knightadder.cli import main
from knightadder.engine.tablebases.registry import SHIPPED

Output = pytest.CaptureFixture[str]


def run(capsys: Output, *arguments: object) -> tuple[int, str, str]:
    """Run the command and give its status, standard output and standard error."""
    status = main(["tablebases", "verify", *map(str, arguments)])
    return status, *capsys.readouterr()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SHIPPED, tmp_path / "tables"))


def test_a_folder_that_is_not_there(capsys: Output, tmp_path: Path) -> None:
    status, out, err = run(capsys, tmp_path / "none", SHIPPED)
    assert status == 1
    assert "10 files" in out
    assert err == f"knightadder: {tmp_path / 'none'}: {os.strerror(errno.ENOENT)}\n"


def test_verifying_sound_files(capsys: Output, folder: Path) -> None:
    assert run(capsys) == (0, "10 files, 26.4 kB: all sound\n", "")
    assert run(capsys, folder, SHIPPED) == (0, "20 files, 52.8 kB: all sound\n", "")


@pytest.mark.parametrize("terminal", [False, True])
def test_verifying_damaged_files(capsys: Output, folder: Path, monkeypatch: pytest.MonkeyPatch, terminal: bool) -> None:
    if terminal:
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
        monkeypatch.setenv("FORCE_COLOR", "1")
    data = (folder / "KPvK.rtbw").read_bytes()
    (folder / "KBvK.rtbw").write_bytes(b"")
    (folder / "KNvK.rtbw").write_bytes(b"<html>" * 10)
    (folder / "KPvK.rtbw").write_bytes(data[:-20] + b"\xff" + data[-19:])
    (folder / "KQvK.rtbw").write_bytes((folder / "KQvK.rtbw").read_bytes()[:-7])
    (folder / "[red] copy.rtbw").write_bytes(b"")
    status, out, err = run(capsys, folder)
    assert (status, out) == (1, "5 of 11 files are bad\n")
    if not terminal:
        assert err.splitlines() == [
            f"knightadder: {folder / 'KBvK.rtbw'}: empty",
            f"knightadder: {folder / 'KNvK.rtbw'}: not a Syzygy file of this kind",
            f"knightadder: {folder / 'KPvK.rtbw'}: its checksum is wrong",
            f"knightadder: {folder / 'KQvK.rtbw'}: truncated",
            f"knightadder: {folder / '[red] copy.rtbw'}: its name is not the name of a table",
        ]


def test_a_folder_without_tables_is_not_verified(capsys: Output, tmp_path: Path) -> None:
    assert run(capsys, tmp_path) == (1, "", f"knightadder: {tmp_path}: no tables\n")
