"""What one flipped bit in the compiled core does to the next start.

A bit of a file in the cache folder is flipped at random. First many times in this process, all bits being as likely:
opening the folder has to remove the damaged file. Then some times under a real engine, all files being as likely: it
has to play a move. Exit status 1 if a flip goes unnoticed or an engine does not play.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

from startup import CACHE_VARIABLE, start_and_move

from knightadder.core.native import cache
from knightadder.workshop.uci_client import UciError


def compiled_files(folder: Path) -> list[Path]:
    """Return the files of compiled code under a folder."""
    return sorted(folder.rglob("*.nb[ic]"))


def flip(file: Path, generator: random.Random) -> None:
    """Flip one bit of a file at a random place."""
    content = bytearray(file.read_bytes())
    content[generator.randrange(len(content))] ^= 1 << generator.randrange(8)
    file.write_bytes(content)


def unnoticed_flips(sound: Path, count: int, generator: random.Random) -> int:
    """Flip one bit at a time and open the folder; return how many damaged files this did not remove."""
    files = compiled_files(sound)
    chosen = generator.choices(files, [file.stat().st_size for file in files], k=count)
    unnoticed = 0
    before = os.environ.get(CACHE_VARIABLE)
    with tempfile.TemporaryDirectory() as place:
        damaged = shutil.copytree(sound, Path(place) / "cache")
        os.environ[CACHE_VARIABLE] = str(damaged)
        for file in chosen:
            victim = damaged / file.relative_to(sound)
            flip(victim, generator)
            cache.configure()
            unnoticed += victim.exists()
            shutil.copytree(sound, damaged, dirs_exist_ok=True)
    if before is None:
        del os.environ[CACHE_VARIABLE]
    else:
        os.environ[CACHE_VARIABLE] = before
    return unnoticed


def failed_starts(command: str, sound: Path, count: int, generator: random.Random) -> int:
    """Start engines, each on a copy of the folder with one flipped bit; return how many do not play."""
    failed = 0
    for number in range(1, count + 1):
        with tempfile.TemporaryDirectory() as place:
            damaged = shutil.copytree(sound, Path(place) / "cache")
            victim = generator.choice(compiled_files(damaged))
            flip(victim, generator)
            try:
                start = start_and_move(command, str(damaged), movetime=100)
                print(f"{number:4} {victim.name:40} played after {start.bestmove:.1f} s", flush=True)
            except UciError as error:
                failed += 1
                print(f"{number:4} {victim.name:40} FAILED: {error}", flush=True)
    return failed


def main() -> int:
    """Flip bits and count the failures; return exit status 1 if there is one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", default=f"'{sys.executable}' -m knightadder", help="command of the engine")
    parser.add_argument("--flips", type=int, default=1000, help="in this process (default: %(default)s)")
    parser.add_argument("--starts", type=int, default=30, help="of a real engine (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the places (default: %(default)s)")
    arguments = parser.parse_args()
    generator = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory() as place:
        sound = Path(place)
        start_and_move(arguments.engine, str(sound), movetime=100)
        began = time.perf_counter()
        unnoticed = unnoticed_flips(sound, arguments.flips, generator)
        seconds = time.perf_counter() - began
        print(f"{arguments.flips} flipped bits: {unnoticed} unnoticed, {seconds:.0f} s", flush=True)
        failed = failed_starts(arguments.engine, sound, arguments.starts, generator)
    print(f"{arguments.starts} real starts: {failed} failed")
    return 1 if unnoticed or failed else 0


if __name__ == "__main__":
    sys.exit(main())
