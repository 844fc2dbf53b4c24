"""Images: files with the compiled core, one for each kind of processor.

==========  ===============================================================
bytes       content
==========  ===============================================================
0 - 31      SHA-256 of all that follows
32 - 35     length of the description
36 - ...    the description, in JSON: the fields of `Image` except the code
4096 n      the code, from the next multiple of 4096 on
==========  ===============================================================

An image is used only if it is whole, was made from these sources in the same way, and suits the processor.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import platform
import re
import struct
import sys
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import numpy as np

CORE = Path(__file__).parents[1]
_PAGE = 4096
_START = 36
_VERSION = "1"  # of the convention between Python and the code, and of this format


@dataclass(frozen=True)
class Target:
    """A kind of processor, with an operating system's convention of calls.

    Attributes
    ----------
    name : str
        How its images are called.
    triple, cpu, features : str
        What LLVM calls it. The object is in ELF for each of them, since `linking` reads no other format.
    tune : str
        The processor whose latencies LLVM goes by. It decides how well the code runs, but not where: each processor
        that has the instructions of `cpu` can run it.
    """

    name: str
    triple: str
    cpu: str
    tune: str
    features: str = ""


# Best first. The levels of x86-64 are tuned for the processors that brought them. All systems but Windows agree on how
# to call functions like ours; macOS and Windows reserve register x18.
_ALL = (
    Target("x86-64-v3", "x86_64-unknown-linux-gnu", "x86-64-v3", "haswell"),
    Target("x86-64-v2", "x86_64-unknown-linux-gnu", "x86-64-v2", "nehalem"),
    Target("windows-x86-64-v3", "x86_64-pc-windows-msvc-elf", "x86-64-v3", "haswell"),
    Target("windows-x86-64-v2", "x86_64-pc-windows-msvc-elf", "x86-64-v2", "nehalem"),
    Target("aarch64", "aarch64-unknown-linux-gnu", "generic", "generic", "+reserve-x18"),
)
TARGETS = {target.name: target for target in _ALL}


@dataclass(frozen=True)
class Image:
    """The compiled core.

    Attributes
    ----------
    target : str
        The name of the `Target`.
    digest : str
        See `digest`.
    boundscheck : bool
        Whether the code checks each index.
    places : dict
        Where in the code each entry point is, and ``tables``, a record of which `tables.fill_constants` has filled its
        part.
    code : bytes
        Machine code and its constants.
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
    whole = hashlib.sha256(_VERSION.encode())
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


def fits(image: Image, target: str, boundscheck: bool = False) -> bool:
    """Say whether an image is for a target and was made from these sources, with or without checks of indices."""
    return (image.target, image.digest, image.boundscheck) == (target, digest(), boundscheck)


def write(folder: Path, image: Image) -> None:
    """Write an image, in one step."""
    description = asdict(image)
    code = description.pop("code")
    text = json.dumps(description).encode()
    content = struct.pack("<I", len(text)) + text
    content += bytes(-(len(content) + _START - 4) % _PAGE) + code
    file = folder / file_name(image.target)
    new = file.with_suffix(f".{os.getpid()}")
    new.write_bytes(hashlib.sha256(content).digest() + content)
    new.replace(file)


def read(content: bytes | bytearray | memoryview) -> tuple[Image, int]:
    """Read an image, and give it, its code left out, with the place at which its code begins.

    Raises
    ------
    ValueError
        If the image is damaged, or of another version of the format.
    """
    view = memoryview(content)
    if len(view) <= _START or hashlib.sha256(view[32:]).digest() != view[:32]:
        raise ValueError("damaged")
    [length] = struct.unpack_from("<I", view, 32)
    description = json.loads(bytes(view[_START : _START + length]))
    if description.keys() | {"code"} != Image.__dataclass_fields__.keys():
        raise ValueError("of another version")
    return Image(**description, code=b""), -(-(_START + length) // _PAGE) * _PAGE
