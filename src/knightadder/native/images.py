"""Images: files with the compiled core, one for each kind of processor.

An image has three parts:

1. its seal, a line with the SHA-256, in hexadecimal, of the sources' `digest`, the file's name and all that follows;
2. a line in JSON with the `Image.places`;
3. the code.

An image is used only if its seal is right: then it is whole, and was made from these sources, for this processor, with
or without bounds checks.
"""

import contextlib
import hashlib
import json
import os
import platform
import re
import sys
import sysconfig
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .building import CoreError
from .processors import x86_64_level

CORE, NATIVE = Path(__file__).parents[1] / "core", Path(__file__).parent


@dataclass(frozen=True)
class Image:
    """The compiled core.

    Attributes
    ----------
    places : dict
        Where in the code each entry point is; ``tables``, a record of which `tables.fill_constants` has filled its
        part; and ``frames``, the call frame information, see `machine_code.tell_unwinder`.
    code : bytes
        Machine code and its constants, to be loaded at the beginning of a page.
    """

    places: dict[str, int]
    code: bytes


def host_machine() -> str:
    """Name the kind of processor that this Python is made for, in small letters.

    On Windows for ARM, Python may be one for x86-64, which the system emulates; `platform.machine` does not tell.
    """
    name = sysconfig.get_platform().rpartition("-")[2] if sys.platform == "win32" else platform.machine()
    return name.lower()


def host_target() -> str:
    """Name the best of `builder.TARGETS` that this machine can run; CoreError if there is none."""
    machine = host_machine()
    if machine in ("aarch64", "arm64") and sys.platform != "win32":
        return "aarch64"
    if machine in ("x86_64", "amd64"):
        level = x86_64_level()
        if level >= 2:
            return f"{'windows-' if sys.platform == 'win32' else ''}x86-64-v{level}"
    raise CoreError("there is no compiled core for a processor of this kind")


@cache
def digest() -> str:
    """Digest the sources of the core and of its compiler, in hexadecimal.

    The values of the parameters are data, which the code reads from a table: their numbers are left out. Their names
    and order count, since they lay out that table.
    """
    whole = hashlib.sha256()
    sources = sorted((source, folder) for folder in (CORE, NATIVE) for source in folder.rglob("*.py"))
    for source, folder in sources:
        content = source.read_bytes()
        if source.name == "parameters.py":
            content = re.sub(rb"(?<!\w)-?\d+(?!\w)", b"", content)
        whole.update(f"\0{folder.name}/{source.relative_to(folder).as_posix()}\0{len(content)}\0".encode() + content)
    return whole.hexdigest()


def file_name(target: str, boundscheck: bool = False) -> str:
    """Name the file of the image for a target."""
    return f"core-{target}{'-checked' * boundscheck}.image"


def write(file: Path, image: Image) -> None:
    """Write an image, in one step, and remove what killed processes have left of it; OSError if that fails.

    No two processes may do so at the same time.
    """
    for left in file.parent.glob(f"{file.name}.*"):
        if left.suffix[1:].isdecimal():
            left.unlink()
    content = json.dumps(image.places).encode() + b"\n" + image.code
    new = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        new.write_bytes(_seal(file.name, content) + b"\n" + content)
        new.replace(file)
    except OSError:
        new.unlink(missing_ok=True)
        raise


def read(file: Path) -> Image | None:
    """Read an image; None if there is none with the right seal."""
    with contextlib.suppress(OSError):
        seal, _, content = file.read_bytes().partition(b"\n")
        if seal == _seal(file.name, content):
            places, _, code = content.partition(b"\n")
            return Image(json.loads(places), code)
    return None


def _seal(name: str, content: bytes) -> bytes:
    return hashlib.sha256(f"{digest()} {name}\n".encode() + content).hexdigest().encode()
