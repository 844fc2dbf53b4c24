"""The listing of the tables that are there and of those that are missing."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest

from knightadder.cli import main
from knightadder.engine.tablebases.registry import SHIPPED
from knightadder.tablebases.listing import describe_missing

Output = pytest.CaptureFixture[str]


def run(capsys: Output, *arguments: object) -> tuple[int, str, str]:
    """Run the command and give its status, standard output and standard error."""
    status = main(["tablebases", "list", *map(str, arguments)])
    return status, *capsys.readouterr()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SHIPPED, tmp_path / "tables"))


def test_the_shipped_tables_are_listed(capsys: Output) -> None:
    status, out, err = run(capsys)
    assert (status, err) == (0, "")
    rows = {line.split("│")[1].strip(): line for line in out.splitlines() if "│" in line}
    assert [cell.strip() for cell in rows["3"].split("│")[2:6]] == ["5 of 5", "5 of 5", "26.4 kB", ""]
    assert [cell.strip() for cell in rows["5"].split("│")[2:6]] == ["0 of 110", "0 of 110", "0 bytes", "all"]
    assert "6" not in rows
    assert out.splitlines()[-1] == "Up to 5 men: 5 of 145 WDL tables, 5 of 145 DTZ tables, 26.4 kB"


def test_missing_and_damaged_tables(capsys: Output, folder: Path) -> None:
    (folder / "KQvK.rtbz").unlink()
    (folder / "KRvK.rtbw").write_bytes(b"")
    (folder / "KNvK.rtbw").unlink()
    (folder / "KNvK.rtbz").unlink()
    status, out, err = run(capsys, folder)
    assert status == 1
    assert err == f"knightadder: {folder / 'KRvK.rtbw'}: empty\n"
    assert "KNvK, KQvK.rtbz, KRvK.rtbw" in out
    assert out.splitlines()[-1].startswith("Up to 5 men: 3 of 145 WDL tables, 3 of 145 DTZ tables, ")


def test_what_is_missing_is_shortened() -> None:
    names = ["A", "B", "C", "D", "E"]
    assert describe_missing(names, names, names) == ""
    assert describe_missing(names, [], []) == "all"
    assert describe_missing(names, names, []) == "A.rtbz, B.rtbz, C.rtbz and 2 more"
    assert describe_missing(names, ["A", "B"], ["B", "C"]) == "A.rtbz, C.rtbw, D, E"
    assert describe_missing(names, ["E"], ["E"]) == "A, B, C, D"


def test_a_folder_that_is_not_there(capsys: Output, tmp_path: Path) -> None:
    status, out, err = run(capsys, tmp_path / "none", SHIPPED)
    assert status == 1
    assert "5 of 145 WDL" in out
    assert err == f"knightadder: {tmp_path / 'none'}: {os.strerror(errno.ENOENT)}\n"
