"""The effect of a flipped bit in the compiled core on the next start.

A random bit of the installed image is flipped: first many times in this process, where reading the image must notice
each flip, then several times for a real engine without Numba. The engine must say in one line what is wrong, and must
play a move when the sound image is restored. Exit status 1 if a flip goes unnoticed or an engine behaves differently.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import knightadder
from knightadder.core.compilation import core

GAME = "uci\nisready\nposition startpos\ngo depth 4\nquit\n"


def flip(content: bytes, generator: random.Random) -> bytes:
    """Return the bytes with one bit flipped at a random place."""
    damaged = bytearray(content)
    damaged[generator.randrange(len(damaged))] ^= 1 << generator.randrange(8)
    return bytes(damaged)


def unnoticed_flips(sound: Path, count: int, generator: random.Random) -> int:
    """Flip one bit at a time, and return the number of unnoticed flips."""
    content, unnoticed = sound.read_bytes(), 0
    with tempfile.TemporaryDirectory() as place:
        damaged = Path(place, sound.name)
        for _ in range(count):
            damaged.write_bytes(flip(content, generator))
            unnoticed += core.read(damaged) is not None
    return unnoticed


def play(package: Path) -> subprocess.CompletedProcess[str]:
    """Start an engine from a copy of the package, and have it play a move."""
    return subprocess.run(
        [sys.executable, "-m", "knightadder"],
        env=os.environ | {"PYTHONPATH": str(package)},
        input=GAME,
        capture_output=True,
        text=True,
        timeout=60,
    )


def failed_starts(sound: Path, count: int, generator: random.Random) -> int:
    """Start engines with a damaged image, then with the sound image; return the number of failures."""
    failed = 0
    with tempfile.TemporaryDirectory() as place:
        package = Path(place)
        copy = package / "knightadder"
        shutil.copytree(Path(knightadder.__file__).parent, copy)
        (package / "sitecustomize.py").write_text("import sys\nsys.modules['numba'] = None\n")
        image = copy / "core" / sound.name
        for number in range(1, count + 1):
            image.write_bytes(flip(sound.read_bytes(), generator))
            told = play(package)
            shutil.copy(sound, image)
            played = play(package)
            lines = [line for line in told.stdout.splitlines() if "cannot be loaded" in line]
            right = len(lines) == 1 and not told.stderr and "bestmove" in played.stdout
            failed += not right
            print(f"{number:4} {'said so, and played' if right else told.stderr + played.stderr}", flush=True)
    return failed


def main() -> int:
    """Flip bits and count the failures; return exit status 1 if there is one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--flips", type=int, default=1000, help="number of flips in this process (default: %(default)s)"
    )
    parser.add_argument(
        "--starts", type=int, default=30, help="number of starts of a real engine (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=1, help="random seed (default: %(default)s)")
    arguments = parser.parse_args()
    generator = random.Random(arguments.seed)
    core.load()
    image = core.image_file()
    unnoticed = unnoticed_flips(image, arguments.flips, generator)
    print(f"{arguments.flips} flipped bits: {unnoticed} unnoticed", flush=True)
    failed = failed_starts(image, arguments.starts, generator)
    print(f"{arguments.starts} real starts: {failed} failed")
    return 1 if unnoticed or failed else 0


if __name__ == "__main__":
    sys.exit(main())
