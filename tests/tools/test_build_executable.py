"""The executable for those without Python: what can be tried without building it."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import build_executable
import frozen_start
import pytest
from packaging.requirements import Requirement
from try_installed import converse

import knightadder.__main__
from knightadder import Explorer, extras, frozen
from knightadder.engine.errors import OptionError
from knightadder.extras import install_command
from knightadder.text import command_line
from knightadder.workshop.match import competitors
from knightadder.workshop.match.competitors import read_competitors

ROOT = Path(__file__).parents[2]
PROGRAM = str(ROOT / "tools" / "frozen_start.py")


def test_without_arguments_it_speaks_uci() -> None:
    assert "uciok" in converse([sys.executable, PROGRAM], [("uci", "uciok"), ("quit", "")])


def test_processes_of_multiprocessing_begin_before_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    def end() -> None:
        raise SystemExit(7)

    monkeypatch.setattr("multiprocessing.freeze_support", end)
    monkeypatch.setattr("knightadder.__main__.main", lambda: pytest.fail("the command began"))
    with pytest.raises(SystemExit, match="7"):
        frozen_start.start()


@pytest.mark.parametrize("before", [None, "/opt/lib"])
def test_other_programs_find_the_libraries_of_the_system(monkeypatch: pytest.MonkeyPatch, before: str | None) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", "/somewhere/_internal")
    monkeypatch.setenv("PYINSTALLER_RESET_ENVIRONMENT", "")
    if before:
        monkeypatch.setenv("LD_LIBRARY_PATH_ORIG", before)
    frozen_start.restore_environment()
    assert os.environ.get("LD_LIBRARY_PATH") == before
    assert "LD_LIBRARY_PATH_ORIG" not in os.environ
    assert os.environ["PYINSTALLER_RESET_ENVIRONMENT"] == "1"  # so that it finds its own again if it starts itself


@pytest.fixture
def frozen_program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """Give the path of the executable that this process seems to be."""
    program = tmp_path / "knightadder"
    program.touch(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    for module in (frozen, extras, competitors):
        monkeypatch.setattr(module, "FROZEN", True)
    return str(program)


def test_a_match_plays_the_executable_itself(frozen_program: str, tmp_path: Path) -> None:
    each = ["nodes=1"]
    own, other = read_competitors([["name=own", "args=uci --hash 1"], ["name=other", f"cmd={sys.executable}"]], each)
    assert own.command == (frozen_program, "uci", "--hash", "1")
    assert own.package_digest() and not other.package_digest()
    with pytest.raises(OptionError, match=r"^dir=.*: this executable plays only its own version"):
        read_competitors([["name=own"], ["name=other", f"dir={tmp_path}"]], each)


@pytest.mark.usefixtures("frozen_program")
def test_an_executable_says_that_no_package_can_be_added() -> None:
    assert (
        install_command("train")
        == "the executable does not include it; install Python, then: pip install knightadder[train]"
    )


@pytest.mark.parametrize("called", ["executable", "module", "command"])
def test_a_message_names_the_program_as_it_was_called(
    called: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    name = "knightadder"
    if called == "executable":
        name = command_line([request.getfixturevalue("frozen_program")])
    elif called == "module":
        monkeypatch.setattr(sys, "argv", [knightadder.__main__.__file__])
        name = command_line([sys.executable, "-m", "knightadder"])
    file = tmp_path / "games.sqlite"
    file.write_text("no index")
    with pytest.raises(OptionError) as error:
        Explorer(file)
    assert str(error.value) == f"{file} is not an index of games: make one with `{name} book index`"


def test_what_lies_beside_the_program(tmp_path: Path) -> None:
    build_executable.copy_licences(tmp_path / "licenses")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for name in ["knightadder", *(Requirement(text).name for text in project["dependencies"])]:
        if name != "zstandard" or sys.version_info < (3, 14):
            folder = tmp_path / "licenses" / importlib.metadata.metadata(name)["Name"]
            assert any(folder.iterdir()), name
    assert "PYTHON SOFTWARE FOUNDATION LICENSE" in (tmp_path / "licenses" / "Python" / "LICENSE.txt").read_text("utf-8")
    for host, program, board in (
        ("linux-x86_64", "knightadder", "play.sh"),
        ("darwin-arm64", "knightadder", "play.command"),
        ("windows-amd64", "knightadder.exe", "play.bat"),
    ):
        build_executable.describe(tmp_path, host)
        assert f"add the file {program} as a UCI engine" in (tmp_path / "README.txt").read_text("utf-8")
        assert f"{program}" in (tmp_path / board).read_text("utf-8")


@pytest.mark.skipif(os.name != "posix", reason="scripts for a POSIX shell")
@pytest.mark.parametrize(("host", "board"), [("linux-x86_64", "play.sh"), ("darwin-arm64", "play.command")])
def test_the_board_opens_from_a_link_to_its_file(tmp_path: Path, host: str, board: str) -> None:
    folder = tmp_path / "Größe ♞"
    folder.mkdir()
    build_executable.describe(folder, host)
    program = folder / "knightadder"
    program.write_text('#!/bin/sh\nprintf "%s|" "$@"\n', "utf-8")
    program.chmod(0o755)
    link, chain = tmp_path / "Chess board", tmp_path / "again"
    link.symlink_to(folder / board)
    chain.symlink_to(link.name)
    for file in (folder / board, link, chain):
        done = subprocess.run([file, "--book", "my book.bin"], cwd="/", capture_output=True, text=True)
        assert (done.stdout, done.stderr) == ("play|--book|my book.bin|", "")


def test_an_interrupted_build_leaves_no_half_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built, folder = tmp_path / "knightadder", tmp_path / "dist"
    built.mkdir()
    (built / "file").write_text("content")
    folder.mkdir()
    archive = build_executable.pack(built, "gztar", folder / "knightadder-1.0")
    assert list(folder.iterdir()) == [archive]
    with tarfile.open(archive) as tar:
        assert tar.getnames() == ["knightadder", "knightadder/file"]
    before = archive.read_bytes()

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(tarfile.TarFile, "add", interrupt)
    with pytest.raises(KeyboardInterrupt):
        build_executable.pack(built, "gztar", folder / "knightadder-1.0")
    assert list(folder.iterdir()) == [archive] and archive.read_bytes() == before


def test_only_an_installed_wheel_is_built_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
    with pytest.raises(SystemExit, match="install a wheel"):
        build_executable.check_installation()
