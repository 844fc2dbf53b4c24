"""Checks Syzygy files: their headers, and the checksums within them."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from knightadder.engine.tablebases.checksum import check_table
from knightadder.engine.tablebases.file import DTZ, WDL, TableError
from knightadder.engine.tablebases.registry import SHIPPED
from knightadder.files import reading, without_links
from knightadder.progress import progress
from knightadder.text import counted, tell


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand and return the exit status: 1 if a file is bad, or a folder contains no tables."""
    from rich.filesize import decimal

    files, problems = _find_files(named_folders(arguments))
    for problem in problems:
        tell(problem)
    bad = done = 0
    with progress(sum(files.values()), unit="bytes", stderr=True) as update:

        def on_read(size: int) -> None:
            nonlocal done
            done += size
            update(done, path.name)

        for path, size in files.items():
            end = done + size
            update(done, path.name)
            try:
                check_table(path, on_read)
            except TableError as error:
                bad += 1
                tell(f"{path}: {error}")
            done = end
    if bad:
        print(f"{bad} of {len(files)} files are bad")
    elif files:
        print(f"{counted(len(files), 'file')}, {decimal(sum(files.values()))}: all undamaged")
    return 1 if bad or problems else 0


def named_folders(arguments: argparse.Namespace) -> list[Path]:
    """Return the folders that a command names, each of them once; by default, the folder of the shipped tables."""
    return list({without_links(folder): folder for folder in arguments.folders or [SHIPPED]}.values())


def _find_files(folders: Iterable[Path]) -> tuple[dict[Path, int], list[str]]:
    """Return the Syzygy files in folders, but not in their subfolders, and their sizes in bytes, 0 if unknown.
    Return also a message for each folder that contains no tables. OptionError if a folder cannot be read.
    """
    files: dict[Path, int] = {}
    problems = []
    for folder in folders:
        with reading(folder):
            found = sorted(path for path in folder.iterdir() if path.suffix in (WDL, DTZ))
        if not found:
            problems.append(f"{folder}: no tables")
        files.update((path, _size(path)) for path in found)
    return files, problems


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
