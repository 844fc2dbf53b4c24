"""The registry of Syzygy tables: which files it takes, what it says about the others, and its answers."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from knightadder.core.tables import new_tables
from knightadder.engine.errors import PositionError
from knightadder.engine.game import Game
from knightadder.engine.tablebases import file as syzygy_file
from knightadder.engine.tablebases.registry import SHIPPED, Tablebases

NAMES = ["KBNvK", "KBvK", "KNvK", "KPvK", "KQvK", "KRvK"]
MATE_IN_ONE = "7k/8/6K1/8/8/8/8/R7 w - - 0 1"


@pytest.fixture(scope="module")
def tables() -> np.record:
    return new_tables()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give a folder with the shipped tables, to damage them."""
    return Path(shutil.copytree(SHIPPED, tmp_path / "tables"))


def test_the_shipped_tables(tables: np.record) -> None:
    tablebases = Tablebases(tables)
    assert tablebases.names == tablebases.dtz_names == NAMES
    assert tablebases.paths["KRvK.rtbz"] == SHIPPED / "KRvK.rtbz"
    assert len(tablebases.paths) == 12
    assert tablebases.largest == 4
    assert tablebases.problems == []
    assert sum(file.stat().st_size for file in SHIPPED.iterdir()) < 500_000


def test_a_position_is_a_fen_or_a_game(tables: np.record) -> None:
    tablebases = Tablebases(tables)
    game = Game(tables)
    game.set_up(MATE_IN_ONE, ["a1a8"])
    assert (tablebases.wdl(MATE_IN_ONE), tablebases.dtz(MATE_IN_ONE)) == (2, 1)
    assert (tablebases.wdl(game), tablebases.dtz(game)) == (-2, -1)
    assert game.fen() == "R6k/8/6K1/8/8/8/8/8 b - - 1 1"
    with pytest.raises(PositionError):
        tablebases.wdl("no position")


def test_a_file_with_the_name_of_another(tables: np.record, folder: Path) -> None:
    shutil.copy(folder / "KQvK.rtbw", folder / "KRvK.rtbw")
    tablebases = Tablebases(tables, [folder])
    assert tablebases.problems == [f"{folder / 'KRvK.rtbw'}: the pieces in its header do not match its name"]
    assert tablebases.wdl(MATE_IN_ONE) is None


def test_wdl_without_dtz(tables: np.record, folder: Path) -> None:
    (folder / "KRvK.rtbz").unlink()
    tablebases = Tablebases(tables, [folder])
    assert "KRvK" in tablebases.names
    assert "KRvK" not in tablebases.dtz_names
    assert tablebases.wdl(MATE_IN_ONE) == 2
    assert tablebases.dtz(MATE_IN_ONE) is None


def test_without_tables_nothing_is_known(tables: np.record, tmp_path: Path) -> None:
    tablebases = Tablebases(tables, [tmp_path])
    assert (tablebases.largest, tablebases.names, tablebases.problems) == (0, [], [])
    assert tablebases.wdl(MATE_IN_ONE) is None


def test_a_missing_folder_is_a_problem_of_its_own(tables: np.record, tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    tablebases = Tablebases(tables, [missing, SHIPPED])
    assert tablebases.problems == [f"cannot read {missing}: {os.strerror(errno.ENOENT)}"]
    assert tablebases.names == NAMES


def test_of_two_folders_the_first_counts(tables: np.record, folder: Path, tmp_path: Path) -> None:
    second = tmp_path / "second"
    second.mkdir()
    (folder / "KRvK.rtbw").rename(second / "KRvK.rtbw")
    (second / "KQvK.rtbw").write_bytes(b"never read")
    tablebases = Tablebases(tables, [folder, str(second)])
    assert tablebases.problems == []
    assert tablebases.names == NAMES
    assert tablebases.paths["KQvK.rtbw"] == folder / "KQvK.rtbw"
    assert tablebases.paths["KRvK.rtbw"] == second / "KRvK.rtbw"
    assert tablebases.dtz(MATE_IN_ONE) == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="POSIX has such files")
def test_a_pipe_is_no_table_and_nobody_waits_for_it(tables: np.record, folder: Path) -> None:
    file = folder / "KRvK.rtbw"
    file.unlink()
    os.mkfifo(file)
    tablebases = Tablebases(tables, (folder,))
    assert tablebases.problems == [f"{file}: a pipe, not a file"]
    assert tablebases.largest == 4


def test_a_damaged_file_does_not_hide_a_sound_one(tables: np.record, folder: Path) -> None:
    (folder / "KRvK.rtbw").write_bytes(b"")
    tablebases = Tablebases(tables, [folder, SHIPPED])
    assert tablebases.problems == [f"{folder / 'KRvK.rtbw'}: empty"]
    assert tablebases.dtz(MATE_IN_ONE) == 1


def patched(data: bytes, *changes: tuple[int, int]) -> bytes:
    """Change some bytes."""
    changed = bytearray(data)
    for offset, value in changes:
        changed[offset] = value
    return bytes(changed)


SOUND = (SHIPPED / "KRvK.rtbz").read_bytes()
# The header: magic 0 to 3, flags 4, order 5, pieces 6 to 8, flags 10, block bits 11, index bits 12, padding 13,
# blocks 14 to 17, longest code 18, shortest 19, lowest symbols from 20 to 35, number of symbols 36.
SYMBOLS = 38


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "empty"),
        (b"\xd7\x66", "truncated, or its header is damaged"),
        (b"RIFF" + SOUND[4:], "not a Syzygy .rtbz file"),
        (SOUND[:-1], "truncated"),
        (SOUND[:80], "truncated, or its header is damaged"),
        (SOUND[:-64], "truncated, or its header is damaged"),
        (patched(SOUND, (4, SOUND[4] | 2)), "its header is damaged"),  # pawns
        (patched(SOUND, (5, 1)), "its header is damaged"),  # an order of more groups
        (patched(SOUND, (6, 0)), "its header is damaged"),  # no piece
        (patched(SOUND, (6, SOUND[6] ^ 1)), "its header is damaged"),  # another piece
        (patched(SOUND, (11, 40)), "its header is damaged"),  # huge blocks
        (patched(SOUND, (12, 0)), "its header is damaged"),  # no index
        (patched(SOUND, (12, 32)), "its header is damaged"),  # more positions per index entry than any table has
        (patched(SOUND, (16, 1)), "truncated, or its header is damaged"),  # 65 thousand blocks more
        (patched(SOUND, (18, 33)), "its header is damaged"),  # too long codes
        (patched(SOUND, (19, 0)), "its header is damaged"),  # empty codes
        (patched(SOUND, (20, 0), (21, 0)), "its header is damaged"),  # codes that are no Huffman code
        (patched(SOUND, (21, 255)), "its header is damaged"),
        (patched(SOUND, (36, 0), (37, 0)), "its header is damaged"),  # no symbols
        (patched(SOUND, (SYMBOLS, 0), (SYMBOLS + 1, 0), (SYMBOLS + 2, 0)), "its header is damaged"),  # holds itself
        (patched(SOUND, (SYMBOLS, 0), (SYMBOLS + 1, 0xE0), (SYMBOLS + 2, 0xFF)), "its header is damaged"),  # beyond all
    ],
)
def test_damaged_files_count_as_absent(tables: np.record, folder: Path, data: bytes, problem: str) -> None:
    path = folder / "KRvK.rtbz"
    path.write_bytes(data)
    tablebases = Tablebases(tables, [folder])
    assert tablebases.problems == [f"{path}: {problem}"]
    assert tablebases.dtz_names == [name for name in NAMES if name != "KRvK"]
    assert tablebases.wdl(MATE_IN_ONE) == 2
    assert tablebases.dtz(MATE_IN_ONE) is None


@pytest.mark.parametrize("name", ["KvK", "QvK", "KQK", "KNQvK", "KQvk", "KKvK", "KQQQvKQQQ", "kqvk", "KQvK.copy"])
def test_names_that_no_table_has(name: str, tables: np.record, tmp_path: Path) -> None:
    assert syzygy_file.material_of_name(name) is None
    (tmp_path / f"{name}.rtbw").write_bytes(b"anything")
    assert Tablebases(tables, [tmp_path]).problems == []


def test_names_of_tables() -> None:
    assert syzygy_file.material_of_name("KQvK") == ("Q", "")
    assert syzygy_file.material_of_name("KQRBNvKP") == ("QRBN", "P")
    assert syzygy_file.material_of_name("KQRBNvKPP") is None  # eight men
    assert syzygy_file.material_of_name("KRPvKNP") == ("RP", "NP")


def test_a_file_that_is_made_shorter_is_used_no_more(tables: np.record, folder: Path) -> None:
    tablebases = Tablebases(tables, [folder])
    assert tablebases.drop_changed() == []
    file = folder / "KRvK.rtbz"
    with file.open("r+b") as stream:
        stream.truncate(0)
    assert tablebases.drop_changed() == [f"{file}: the file has changed and is no longer used"]
    assert tablebases.drop_changed() == []
    assert (tablebases.wdl(MATE_IN_ONE), tablebases.dtz(MATE_IN_ONE)) == (2, None)
    assert "KRvK" not in tablebases.dtz_names


def test_a_folder_that_vanishes_takes_nothing_away(tables: np.record, folder: Path) -> None:
    tablebases = Tablebases(tables, [folder])
    shutil.rmtree(folder)
    assert tablebases.drop_changed() == []
    assert (tablebases.wdl(MATE_IN_ONE), tablebases.dtz(MATE_IN_ONE)) == (2, 1)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_as_many_files_may_be_open_as_the_system_allows() -> None:
    script = """
import resource
from knightadder.core.tables import new_tables
from knightadder.engine.tablebases.registry import Tablebases
resource.setrlimit(resource.RLIMIT_NOFILE, (200, 700))
Tablebases(new_tables())
print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
"""
    assert subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, check=True).stdout == b"700\n"
