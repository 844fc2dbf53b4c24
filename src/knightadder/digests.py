"""Digests of files and of this engine's sources, by which a run notices changes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from knightadder.files import reading

PACKAGE = Path(__file__).parent


def source_digest(
    package: Path = PACKAGE,
    folders: Sequence[str] = ("core", "engine", "data"),
    suffixes: Sequence[str] = (".py", ".json", ".nnue"),
) -> str:
    """Return a digest of the sources, values and networks that determine how the engine plays; see `digest_of`. Unlike
    the key of the compiled code, the digest is the same on all machines.
    """
    files = {
        file.relative_to(package).as_posix(): file
        for folder in folders
        for file in (package / folder).rglob("*")
        if file.suffix in suffixes
    }
    return digest_of(files)


def digest_of(files: Mapping[str, Path]) -> str:
    """Return a digest of files and their names, 16 hexadecimal digits; OptionError if a file cannot be read."""
    digest = hashlib.sha256()
    for name, file in sorted(files.items()):
        digest.update(f"{name}\0{content_digest(file)}\0".encode())
    return digest.hexdigest()[:16]


def content_digest(file: Path) -> str:
    """Return a digest of a file's content, the hexadecimal SHA-256; OptionError if the file cannot be read."""
    with reading(file), file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
