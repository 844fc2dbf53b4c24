"""Build the executable for users without Python, for this system: an archive with the folder ``knightadder``.

    python tools/build_executable.py dist

The executable contains the packages of this Python's environment. So use a separate environment without Numba, with the
wheel of this system: ``pip install 'knightadder[annotate,lichess,executable]'`` (``make executable`` does all this).

A folder starts nearly as quickly as the wheel. A single file would be unpacked at each start, and the unpacked files
would remain when a chess program kills the engine.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]
SPEC = ROOT / "tools" / "knightadder.spec"
_LICENCE = re.compile(r"\.dist-info/(licenses/.*|(LICEN[CS]E|COPYING|NOTICE|AUTHORS)[^/]*)$", re.IGNORECASE)

# It may be started from a link to it, which `readlink -f` follows; macOS before 12.3 does not know that option.
_BOARD = """\
#!/bin/sh
file=$(readlink -f "$0" 2>/dev/null) || file=$0
exec "$(dirname "$file")/knightadder" play "$@"
"""
# By platform: the format of the archive, and the file that opens the board after a double click.
_ARCHIVES = {"linux": "xztar", "darwin": "gztar", "windows": "zip"}
_BOARDS = {
    "linux": ("play.sh", _BOARD),
    "darwin": ("play.command", _BOARD),
    "windows": ("play.bat", '@"%~dp0knightadder.exe" play %*\r\n@if errorlevel 1 pause\r\n'),
}

_README = """\
Knightadder {version}, a chess engine, for {platform}

Chess programs:  add the file {program} as a UCI engine. It needs the folder _internal beside it.
A board:         open {board}, or run: {program} play
All commands:    {program} --help

Knightadder is free software under the GNU General Public License, version 3 or later: you may share and change it, and
there is no warranty. See licenses/knightadder. Its sources, and those of python-chess, are in _internal/knightadder and
_internal/chess; all sources, and the script that builds this program, are in knightadder-{version}.tar.gz, which lies
where you got this program. Python and the other packages inside have licences of their own: see the folder licenses.
"""


def build(folder: Path) -> Path:
    """Build the executable, and return its archive in the given folder."""
    check_installation()
    from knightadder.native.processors import host_machine

    host = f"{platform.system()}-{host_machine()}".lower()  # as hatch_build.py names it
    with tempfile.TemporaryDirectory() as work:
        options = ["--noconfirm", "--log-level=WARN", f"--distpath={work}", f"--workpath={Path(work, 'build')}"]
        done = subprocess.run([sys.executable, "-m", "PyInstaller", *options, SPEC])
        if done.returncode:
            sys.exit("build_executable: PyInstaller failed")
        built = Path(work, "knightadder")
        if host.startswith("linux"):
            strip(built)
        copy_licences(built / "licenses")
        describe(built, host)
        folder.mkdir(parents=True, exist_ok=True)
        kind = _ARCHIVES[host.partition("-")[0]]
        name = f"knightadder-{importlib.metadata.version('knightadder')}-{host}"
        archive = pack(built, kind, folder.absolute() / name)
        print(f"{archive}: {_size([archive])}, unpacked {_size(built.rglob('*'))}")
        return archive


def pack(built: Path, kind: str, name: Path) -> Path:
    """Pack a folder, and return the archive; `name` lacks the suffix, which depends on the kind. An interrupted build
    leaves no incomplete archive under the final name, because the archive is packed in a temporary folder beside it.
    """
    with tempfile.TemporaryDirectory(dir=name.parent) as place:
        packed = Path(shutil.make_archive(str(Path(place, name.name)), kind, built.parent, built.name))
        return packed.replace(name.parent / packed.name)


def check_installation() -> None:
    """Exit with a message unless the engine was installed from a wheel."""
    if importlib.util.find_spec("PyInstaller") is None or importlib.util.find_spec("knightadder") is None:
        sys.exit("build_executable: install knightadder[annotate,lichess,executable] with this Python")
    from knightadder.core.compilation import core

    images = list(core.folder.glob("*.image"))
    if not images or None in map(core.read, images) or core.folder.is_relative_to(ROOT / "src"):
        sys.exit(
            "build_executable: install a wheel of Knightadder; the sources alone lack the code for other processors"
        )


def strip(built: Path) -> None:
    """Remove debug symbols, which make some libraries ten times larger. Libraries in folders such as ``numpy.libs``
    stay unchanged: they were modified after linking, and stripping breaks them.
    """
    libraries = [file for file in built.rglob("*.so*") if not file.is_symlink() and file.parent.suffix != ".libs"]
    subprocess.run(["strip", "--strip-unneeded", *libraries], check=True)


def copy_licences(folder: Path) -> None:
    """Copy the licences of Python and of all installed packages, whose files may be in the executable."""
    for package in importlib.metadata.distributions():
        files = {file: _LICENCE.search(file.as_posix()) for file in package.files or ()}
        to = folder / package.metadata["Name"]
        for file, found in files.items():
            if found:
                copy = to / found[1].removeprefix("licenses/")
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(Path(str(package.locate_file(file))), copy)
        if not any(files.values()):  # then the package's description names the licence
            to.mkdir(parents=True)
            (to / "METADATA").write_text(package.read_text("METADATA") or "", "utf-8")
    places = [Path(sysconfig.get_path("stdlib")), Path(sys.base_prefix)]
    text = next(place / "LICENSE.txt" for place in places if (place / "LICENSE.txt").exists())
    (folder / "Python").mkdir()
    shutil.copyfile(text, folder / "Python" / text.name)
    for library in _libraries_of_debian(folder.parent / "_internal"):
        notice = Path("/usr/share/doc", library, "copyright")
        if notice.exists():
            (folder / library).mkdir()
            shutil.copyfile(notice, folder / library / notice.name)


def _libraries_of_debian(folder: Path) -> list[str]:
    """Return the names of the Debian or Ubuntu packages whose libraries PyInstaller copied; none on other systems."""
    if shutil.which("dpkg") is None:
        return []
    names = [f"*/{file.name}" for file in folder.glob("*.so*") if not file.is_symlink()]
    found = subprocess.run(["dpkg", "-S", *names], capture_output=True, text=True).stdout
    return sorted({line.partition(":")[0] for line in found.splitlines()})


def describe(built: Path, host: str) -> None:
    """Write the files beside the program: a text about its use, and a file that opens the board."""
    system = host.partition("-")[0]
    board, script = _BOARDS[system]
    (built / board).write_bytes(script.encode())
    (built / board).chmod(0o755)
    program = "knightadder.exe" if system == "windows" else "knightadder"
    version = importlib.metadata.version("knightadder")
    text = _README.format(
        version=version, platform=f"{platform.system()} {platform.machine()}", program=program, board=board
    )
    (built / "README.txt").write_text(text, "utf-8")


def _size(files: Iterable[Path]) -> str:
    return f"{sum(file.stat().st_size for file in files if not file.is_symlink()) / 1e6:.0f} MB"


def main() -> None:
    """Build the executable into the folder of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    build(parser.parse_args().folder)


if __name__ == "__main__":
    main()
