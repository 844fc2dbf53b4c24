"""Images: files with the compiled core, one for each kind of processor.

An image has three parts:

1. a line with the SHA-256 of all that follows, in hexadecimal;
2. a line in JSON with the fields of `Image` except the code;
3. the code.

An image is used only if it is whole, was made from these sources in the same way, and suits the processor.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import json
import os
import platform
import re
import sys
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import numpy as np

CORE = Path(__file__).parents[1]


@dataclass(frozen=True)
class Image:
    """The compiled core.

    Attributes
    ----------
    target : str
        The kind of processor, one of `builder.TARGETS`.
    digest : str
        See `digest`.
    boundscheck : bool
        Whether the code checks each index.
    places : dict
        Where in the code each entry point is, and ``tables``, a record of which `tables.fill_constants` has filled its
        part.
    code : bytes
        Machine code and its constants, to be loaded at the beginning of a page.
    """

    target: str
    digest: str
    boundscheck: bool
    places: dict[str, int]
    code: bytes


def host_targets() -> list[str]:
    """Name the targets that this machine can run, best first."""
    machine = platform.machine().lower()
    if machine in ("aarch64", "arm64"):
        return ["aarch64"] if sys.platform != "win32" else []
    if machine not in ("x86_64", "amd64"):
        return []
    core = "numpy._core" if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else "numpy.core"
    has = importlib.import_module(f"{core}._multiarray_umath").__cpu_features__
    # Every processor with AVX2 and FMA3 has the rest of v3.
    levels = ["v3"] if has["AVX2"] and has["FMA3"] else []
    levels += ["v2"] if has["SSE42"] and has["POPCNT"] else []
    return [f"{'windows-' if sys.platform == 'win32' else ''}x86-64-{level}" for level in levels]


@cache
def digest() -> str:
    """Digest the sources of the core, in hexadecimal.

    The values of the parameters are data, which the code reads from a table: their numbers are left out.
    """
    whole = hashlib.sha256()
    for source in sorted(CORE.rglob("*.py")):
        content = source.read_bytes()
        if source.name == "parameters.py":
            content = re.sub(rb"-?\d+", b"", content)
        whole.update(f"\0{source.relative_to(CORE).as_posix()}\0{len(content)}\0".encode())
        whole.update(content)
    return whole.hexdigest()


def file_name(target: str) -> str:
    """Name the file of the image that is installed for a target."""
    return f"core-{target}.image"


def write(folder: Path, image: Image) -> None:
    """Write an image, in one step."""
    description = asdict(image)
    code = description.pop("code")
    content = json.dumps(description).encode() + b"\n" + code
    file = folder / file_name(image.target)
    new = file.with_suffix(f".{os.getpid()}")
    new.write_bytes(hashlib.sha256(content).hexdigest().encode() + b"\n" + content)
    new.replace(file)


def read(content: bytes) -> Image:
    """Read an image.

    Raises
    ------
    ValueError
        If the image is damaged, or of another version of the format.
    """
    checksum, _, content = content.partition(b"\n")
    if hashlib.sha256(content).hexdigest().encode() != checksum:
        raise ValueError("damaged")
    description, _, code = content.partition(b"\n")
    try:
        return Image(**json.loads(description), code=code)
    except TypeError:
        raise ValueError("of another version") from None


def find(folder: Path, target: str, boundscheck: bool = False) -> Image | None:
    """Read the image in a folder that is for a target, and was made from these sources; None if there is none."""
    with contextlib.suppress(OSError, ValueError):
        image = read((folder / file_name(target)).read_bytes())
        if (image.target, image.digest, image.boundscheck) == (target, digest(), boundscheck):
            return image
    return None
