"""Images: files with compiled programs, one for each kind of processor.

An image has three parts:

1. its seal: a line with the hexadecimal SHA-256 of the sources' `digest`, the file's name and everything after the
   seal;
2. a line in JSON with the `Image.places`;
3. the code.

An image is used only if its seal is right. It is then complete, and was made from these sources, for this processor,
and with or without bounds checks as requested.
"""

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Container, Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Image:
    """A compiled program: its `code`, to be loaded at the start of a page, and the offsets of its `places` in the code.
    The places are exported functions and constants by name, and ``frames``, see `machine_code.tell_unwinder`.
    """

    places: dict[str, int]
    code: bytes


def digest(folders: Iterable[Path], data: Container[str]) -> str:
    """Return the hexadecimal digest of all Python files in some folders, without the numbers in the files `data`."""
    whole = hashlib.sha256()
    for number, folder in enumerate(folders):
        for source in sorted(folder.rglob("*.py")):
            content, path = source.read_bytes(), source.relative_to(folder).as_posix()
            if path in data:
                content = re.sub(rb"(?<!\w)-?\d+(?!\w)", b"", content)
            whole.update(f"\0{number}/{path}\0{len(content)}\0".encode() + content)
    return whole.hexdigest()


def write(file: Path, image: Image, digest: str) -> None:
    """Write an image in one step, and remove incomplete files of killed processes. Only one process may do so at a
    time.
    """
    for left in file.parent.glob(f"{file.name}.*"):
        if left.suffix[1:].isdecimal():
            left.unlink()
    content = json.dumps(image.places).encode() + b"\n" + image.code
    new = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        new.write_bytes(_seal(file.name, content, digest) + b"\n" + content)
        new.replace(file)
    except OSError:
        new.unlink(missing_ok=True)
        raise


def read(file: Path, digest: str) -> Image | None:
    """Read an image; None if there is no image with the right seal."""
    with contextlib.suppress(OSError):
        seal, _, content = file.read_bytes().partition(b"\n")
        if seal == _seal(file.name, content, digest):
            places, _, code = content.partition(b"\n")
            return Image(json.loads(places), code)
    return None


def _seal(name: str, content: bytes, digest: str) -> bytes:
    return hashlib.sha256(f"{digest} {name}\n".encode() + content).hexdigest().encode()
