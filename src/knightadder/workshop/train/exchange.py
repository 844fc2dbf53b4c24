"""Exchange of networks with other trainers: weights as NumPy arrays, and bullet's files of integers."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from knightadder.core.evaluation.network_file import INPUTS, KING_BUCKETS, Network, part_shapes
from knightadder.engine.errors import OptionError
from knightadder.engine.evaluator import load_network
from knightadder.files import reading, replacing, write_whole
from knightadder.foreign import parse_json
from knightadder.workshop.train.weights import Flat, Shape, dequantise

_NAMES = ("feature_weights", "feature_biases", "output_weights", "output_biases")


@dataclass(frozen=True, slots=True)
class _About:
    """The data of a network that does not follow from the arrays of its weights."""

    mirrored: bool
    scale: int


_PADDING, _ALIGNMENT = b"bullet", 64  # the padding at the end of bullet's files


def write_arrays(file: Path, flat: Flat, shape: Shape, scale: int, force: bool = True) -> None:
    """Write floating-point weights as an NPZ file of NumPy arrays, for PyTorch users; `force` is as in `replacing`."""
    about = json.dumps(asdict(_About(shape.mirrored, scale)))
    arrays: dict[str, Any] = dict(zip(_NAMES, shape.parts(flat), strict=True))
    with replacing(file, force=force) as beside, beside.open("wb") as stream:
        np.savez(stream, about=np.array(about), **arrays)


def read_arrays(file: Path) -> tuple[Flat, Shape, int]:
    """Return weights, shape and scale from a file of `write_arrays`; OptionError if it is not such a file."""
    with reading(file):
        data = file.read_bytes()
    try:
        with np.load(io.BytesIO(data)) as arrays:
            parts = [np.asarray(arrays[name], np.float32) for name in _NAMES]
            about: _About = parse_json(str(arrays["about"]), _About)
        shape = Shape(parts[1].size, parts[3].size, about.mirrored, len(parts[0]) // INPUTS)
        flat = np.concatenate([part.ravel() for part in parts])
        shapes = part_shapes(shape.width, shape.buckets, shape.king_buckets)
        if shape.king_buckets not in KING_BUCKETS or [part.shape for part in parts] != shapes:
            raise ValueError("some arrays have the wrong shape")
    except (ValueError, TypeError, KeyError, EOFError, zipfile.BadZipFile, zlib.error, RuntimeError):
        raise OptionError(f"{file} does not hold the weights of a network") from None
    if not np.isfinite(flat).all():
        raise OptionError(f"{file}: some weights are not numbers")
    return flat, shape, about.scale


def read_weights(file: Path) -> tuple[Flat, Shape, int]:
    """Return weights, shape and scale from a file of `write_arrays` (a name in ``.npz``), or else from a network."""
    if file.suffix == ".npz":
        return read_arrays(file)
    network = load_network(file)
    return dequantise(network), Shape.of(network), network.scale


def write_bullet(file: Path, network: Network) -> None:
    """Write a network as bullet's file ``quantised.bin``, see `read_bullet`; OptionError if that fails."""
    data = b"".join(part.astype("<i2").tobytes() for part in network.parts())
    missing = -len(data) % _ALIGNMENT
    write_whole(file, data + (_PADDING * _ALIGNMENT)[:missing])


def read_bullet(file: Path, buckets: int, mirrored: bool, king_buckets: int, scale: int, description: str) -> Network:
    """Read a file ``quantised.bin`` of bullet, with a network (768 -> N)x2 -> 1; OptionError if it is not such a file.

    This is the layout that bullet's ValueTrainerBuilder has written since 2025 for the inputs ``Chess768``, or
    ``ChessBucketsMirrored``, and the save format of its examples: ``l0w`` and ``l0b`` quantised by
    255, ``l1w`` by 64 (and transposed if there are output buckets, of the kind ``MaterialCount``), ``l1b`` by 255 * 64.

    All numbers are little-endian 16-bit integers: for each king bucket 768 rows of N feature weights, N feature biases,
    for each bucket 2 N output weights, and for each bucket one output bias. The end is padded to a multiple of 64
    bytes. The older TrainerBuilder with SCReLU wrote the same layout for a single bucket. `scale` is bullet's
    ``eval_scale``.
    """
    with reading(file):
        data = file.read_bytes()
    width = len(data) // 2 // (king_buckets * INPUTS + 1 + 2 * buckets)
    shape = Shape(width, buckets, mirrored, king_buckets)
    size = 2 * shape.size
    if not width or len(data) not in (size, size + -size % _ALIGNMENT):
        raise OptionError(f"{file} is not a network (768 -> N)x2 -> 1 with {buckets} output buckets")
    numbers = np.frombuffer(data[:size], "<i2").astype(np.int16)
    try:
        return Network(*shape.parts(numbers), mirrored=mirrored, scale=scale, description=description)
    except ValueError as error:
        raise OptionError(f"{file}: {error}") from None
