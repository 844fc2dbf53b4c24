"""The listing of tables, those that are missing too, and their verification."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from pathlib import Path

import pytest
from command_line import run_command
from rich.filesize import decimal

from knightadder import progress
from knightadder.engine.tablebases.registry import SHIPPED
from knightadder.tablebases.listing import describe_missing

Output = pytest.CaptureFixture[str]


def run(capsys: Output, *arguments: object) -> tuple[int | str | None, str, str]:
    return run_command(capsys, "tablebases", *arguments)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SHIPPED, tmp_path / "tables"))


def test_the_shipped_tables_are_listed(capsys: Output) -> None:
    status, out, err = run(capsys, "list")
    assert (status, err) == (0, "")
    rows = {line.split("│")[1].strip(): line for line in out.splitlines() if "│" in line}
    assert [cell.strip() for cell in rows["3"].split("│")[2:6]] == ["5 of 5", "5 of 5", "26.4 kB", ""]
    assert [cell.strip() for cell in rows["4"].split("│")[2:5]] == ["1 of 30", "1 of 30", "469.5 kB"]
    assert [cell.strip() for cell in rows["5"].split("│")[2:6]] == ["0 of 110", "0 of 110", "0 bytes", "all"]
    assert rows.keys() - {""} == {"3", "4", "5"}
    assert out.splitlines()[-1] == "Up to 5 men: 6 of 145 WDL tables, 6 of 145 DTZ tables, 495.9 kB"


def test_missing_and_damaged_tables(capsys: Output, folder: Path) -> None:
    (folder / "KPvK.rtbz").unlink()
    (folder / "KQvK.rtbz").unlink()
    (folder / "KRvK.rtbw").write_bytes(b"")
    (folder / "KNvK.rtbw").unlink()
    (folder / "KNvK.rtbz").unlink()
    status, out, err = run(capsys, "list", folder)
    assert status == 1
    assert err == f"knightadder: {folder / 'KRvK.rtbw'}: empty\n"
    assert "KNvK, KPvK.rtbz, KQvK.rtbz, KRvK.rtbw" in out
    assert out.splitlines()[-1].startswith("Up to 5 men: 4 of 145 WDL tables, 3 of 145 DTZ tables, ")


def test_what_is_missing_is_shortened() -> None:
    names = ["A", "B", "C", "D", "E"]
    assert describe_missing(names, names, names) == ""
    assert describe_missing(names, [], []) == "all"
    assert describe_missing(names, names, []) == "A.rtbz, B.rtbz, C.rtbz and 2 more"
    assert describe_missing(names, ["A", "B"], ["B", "C"]) == "A.rtbz, C.rtbw, D, E"
    assert describe_missing(names, ["E"], ["E"]) == "A, B, C, D"
    assert describe_missing(["A", "B"], [], ["A"]) == "A.rtbw, B"


@pytest.mark.parametrize("command", ["list", "verify"])
def test_a_folder_that_is_not_there(capsys: Output, tmp_path: Path, command: str) -> None:
    fault = f"knightadder: cannot read {tmp_path / 'none'}: {os.strerror(errno.ENOENT)}\n"
    assert run(capsys, command, SHIPPED, tmp_path / "none") == (2, "", fault)


def test_verifying_sound_files(capsys: Output, folder: Path) -> None:
    assert run(capsys, "verify") == (0, "12 files, 495.9 kB: all undamaged\n", "")
    assert run(capsys, "verify", folder, SHIPPED) == (0, "24 files, 991.7 kB: all undamaged\n", "")


@pytest.mark.parametrize(("command", "told"), [("list", ""), ("verify", "1 of 1 files are bad\n")])
def test_a_folder_that_is_named_twice_counts_once(
    capsys: Output, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "-"  # not standard input
    folder.mkdir()
    (folder / "KQvK.rtbw").write_bytes(b"damaged")
    status, out, err = run(capsys, command, "-", folder, "./-")
    assert (status, err.count("KQvK.rtbw: truncated, or its header is damaged\n")) == (1, 1)
    assert out.endswith(told)


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
    status, out, err = run(capsys, "verify", folder)
    assert (status, out) == (1, "5 of 13 files are bad\n")
    if not terminal:
        assert err.splitlines() == [
            f"knightadder: {folder / 'KBvK.rtbw'}: empty",
            f"knightadder: {folder / 'KNvK.rtbw'}: not a Syzygy .rtbw file",
            f"knightadder: {folder / 'KPvK.rtbw'}: its checksum is wrong",
            f"knightadder: {folder / 'KQvK.rtbw'}: truncated",
            f"knightadder: {folder / '[red] copy.rtbw'}: the name of the file is not the name of a table",
        ]


def test_a_folder_without_tables_is_not_verified(capsys: Output, tmp_path: Path) -> None:
    assert run(capsys, "verify", tmp_path) == (1, "", f"knightadder: {tmp_path}: no tables\n")


def test_the_progress_of_verifying_counts_damaged_files_whole(
    capsys: Output, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "_LINE_SECONDS", 0)
    for name in ("KBvK.rtbw", "KRvK.rtbw"):
        shutil.copy(SHIPPED / name, tmp_path)
    (tmp_path / "KNvK.rtbw").write_bytes(bytes(600))
    first, last = ((SHIPPED / name).stat().st_size for name in ("KBvK.rtbw", "KRvK.rtbw"))
    whole = first + 600 + last
    _, _, err = run(capsys, "verify", tmp_path)
    shown = [(0, "B"), (first - 16, "B"), (first, "N"), (first + 600, "R"), (whole - 16, "R")]  # without the checksums
    lines = [line for line in err.splitlines() if not line.startswith("knightadder: ")]
    assert lines == [f"{decimal(done)}/{decimal(whole)}  K{piece}vK.rtbw" for done, piece in shown]
