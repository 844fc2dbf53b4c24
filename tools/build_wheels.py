"""Build the files of a release: the source distribution, and a wheel for each platform.

    python tools/build_wheels.py dist

The wheels are built from the source distribution. Numba's part of the compilation is done once for all wheels.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from hatch_build import PLATFORMS  # noqa: E402

_BUILD = """
import pathlib, sys
sys.path.insert(0, sys.argv[1])
from knightadder.core.compilation import core
core.build(pathlib.Path(sys.argv[2]), sys.argv[3:], print)
"""


def build(folder: Path, platforms: Sequence[str]) -> None:
    """Build the source distribution, and wheels for platforms with names from `PLATFORMS`, into a folder."""
    targets = dict.fromkeys(target for platform in platforms for target in PLATFORMS[platform].targets)
    with tempfile.TemporaryDirectory() as work:
        _hatchling(ROOT, work, "sdist", {})
        [source] = Path(work).glob("*.tar.gz")
        with tarfile.open(source) as archive:
            archive.extractall(work, filter="data")
        unpacked = source.with_name(source.name.removesuffix(".tar.gz"))
        images = Path(work, "images")
        images.mkdir()
        build_images(unpacked / "src", images, list(targets))
        for platform in platforms:
            variables = {"KNIGHTADDER_TARGET": platform, "KNIGHTADDER_IMAGES": str(images)}
            _hatchling(unpacked, work, "wheel", variables)
        folder.mkdir(parents=True, exist_ok=True)
        for file in [source, *Path(work).glob("*.whl")]:
            (folder / file.name).write_bytes(file.read_bytes())
            print(folder / file.name)


def build_images(sources: Path, folder: Path, targets: Sequence[str]) -> None:
    """Compile the core into images with the names `targets`, in a folder.
    The builder is the one in the folder `sources`, which contains the package, not the builder of this process.
    """
    done = subprocess.run([sys.executable, "-P", "-c", _BUILD, sources, folder, *targets])
    if done.returncode:
        sys.exit("build_wheels: the core cannot be compiled")


def _hatchling(project: Path, folder: str, kind: str, variables: dict[str, str]) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", folder]
    done = subprocess.run(command, cwd=project, env=os.environ | variables, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)


def main() -> None:
    """Build the files that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--platform",
        action="append",
        choices=PLATFORMS,
        help="platform to build; may be given several times (default: all)",
    )
    chosen = parser.parse_args()
    build(chosen.folder, chosen.platform or list(PLATFORMS))


if __name__ == "__main__":
    main()
