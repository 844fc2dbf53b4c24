"""Network files: the integer weights and the parameters of a network (768 -> N) x 2 -> 1.

All numbers are little-endian:

======  ==========================================================================================================
Bytes   Meaning
======  ==========================================================================================================
0       16 bytes: ``Knightadder NNUE``
16      32 bytes: SHA-256 of everything after it
48      u16 format version, 1
50      u16 N, the width of the hidden layer
52      u8 number of output buckets; u8 number of king buckets of a mirrored network, or 0 if it is not mirrored
54      u16 `scale`: centipawns for an output of 1
56      u16 QA, u16 QB: a weight of 1.0 is stored as QA in the hidden layer, and as QB in the output layer
60      u32 length of the description in bytes
64      the description in UTF-8, with zeros up to a multiple of 64
then    i16 feature weights [king buckets][768][N], feature biases [N], output weights [buckets][2][N], output biases
        [buckets]
======  ==========================================================================================================

A piece on a square is a feature for each side: ``384 * theirs + 64 * type + square``. `theirs` is 1 for an enemy piece,
else 0. The type is 0 to 5 for pawn to king. The square is seen from the side, so the ranks are reversed for Black. In a
mirrored network, the files are reversed too while the side's king is on files e to h. If there are several king
buckets, the feature weights depend on the bucket of the side's own king (`king_bucket`). The output weights begin with
the side to move. If there are several output buckets, a position with m men uses the bucket
``(m - 2) // ceil(32 / buckets)`` (`bucket_of`).

An engine computes in integers. An accumulator is an int16 sum of a bias and feature weights. The accumulator is clipped
to the range 0 to QA, which gives v. Then v is multiplied by its output weight (in int16), and again by v (in int32).
The value is computed from the sum of all these products, in centipawns from the side to move's view: ``(sum // QA +
output bias) * scale // (QA * QB)``, where ``//`` rounds down. Files whose weights could overflow these types are
rejected.
"""

import hashlib
import math
import os
import struct
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..layout import MAX_MEN_ON_BOARD

INPUTS = 768  # number of features: colour, type and square of a piece
QA, QB = 255, 64

Parts: TypeAlias = tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]

_MAGIC = b"Knightadder NNUE"
_VERSION = 1
_HEADER = struct.Struct("<HHBBHHHI")  # fields after the magic bytes and the digest
_START = len(_MAGIC) + hashlib.sha256().digest_size
_ALIGNMENT = 64
_WIDTHS = range(16, 2049, 16)  # supported widths of the hidden layer: multiples of 16, the size of a vector
_BUCKETS = range(1, 33)  # supported numbers of output buckets
LONGEST_DESCRIPTION = 1000  # bytes
KING_BUCKETS = (1, 4)  # supported numbers of king buckets
_MAX_BYTES = 14_000_000  # maximum size of a file; even the largest network needs less


@dataclass(frozen=True, eq=False)
class Network:
    """A network (768 -> N) x 2 -> 1 with integer weights.

    A `ValueError` is raised if the shapes do not fit together, or if the weights may overflow the engine's integers.

    Attributes
    ----------
    feature_weights, feature_biases : arrays of int16
        The first layer, of shapes (king buckets * 768, N) and (N,).
    output_weights, output_biases : arrays of int16
        The output layers, of shapes (buckets, 2, N) and (buckets,).
    mirrored : bool
        Whether the files are reversed while the side's king is on files e to h.
    scale : int
        Centipawns for an output of 1.
    description : str
        The origin of the network, in one line.
    """

    feature_weights: NDArray[np.int16]
    feature_biases: NDArray[np.int16]
    output_weights: NDArray[np.int16]
    output_biases: NDArray[np.int16]
    mirrored: bool
    scale: int
    description: str = ""

    def __post_init__(self) -> None:
        """Check shapes and weights."""
        width, buckets = self.feature_weights.shape[-1], len(self.output_biases)
        shapes = part_shapes(width, buckets, self.king_buckets)
        if [part.shape for part in self.parts()] != shapes or any(part.dtype != np.int16 for part in self.parts()):
            raise ValueError("the shapes of the network's parts do not match")
        if width not in _WIDTHS or buckets not in _BUCKETS:
            raise ValueError(f"a hidden layer of {width} neurons with {buckets} output buckets is not supported")
        if self.king_buckets not in KING_BUCKETS or (self.king_buckets > 1 and not self.mirrored):
            raise ValueError("this number of king buckets is not supported")
        if not 1 <= self.scale < 1 << 16:
            raise ValueError(f"a scale of {self.scale} centipawns is not supported")
        if self._may_overflow():
            raise ValueError("the feature weights are so large that an accumulator may overflow")
        outputs = abs(self.output_weights.astype(np.int64))
        if outputs.max() * QA > np.iinfo(np.int16).max or outputs.sum(axis=(1, 2)).max() * QA**2 >= 1 << 31:
            raise ValueError("the output weights are so large that the output may overflow")

    @property
    def width(self) -> int:
        """N, the width of the hidden layer."""
        return len(self.feature_biases)

    @property
    def buckets(self) -> int:
        """Number of output buckets."""
        return len(self.output_biases)

    @property
    def king_buckets(self) -> int:
        """Number of king buckets."""
        return len(self.feature_weights) // INPUTS

    @cached_property
    def key(self) -> int:
        """A 64-bit number that identifies the network by its weights."""
        digest = hashlib.sha256(network_bytes(replace(self, description=""))).digest()
        return int.from_bytes(digest[:8], "little")

    def parts(self) -> Parts:
        """Return the weights and biases in the order of the file."""
        return self.feature_weights, self.feature_biases, self.output_weights, self.output_biases

    def _may_overflow(self) -> bool:
        """Return whether the weights of 32 features can exceed the range of an accumulator."""
        room = np.iinfo(np.int16).max - abs(self.feature_biases.astype(np.int32))
        largest = max(int(self.feature_weights.max()), -int(self.feature_weights.min()))
        if largest * MAX_MEN_ON_BOARD <= room.min():  # always true for clipped weights, and quick to test
            return False
        weights = abs(self.feature_weights.astype(np.int32)).reshape(-1, INPUTS, self.width)
        kept = INPUTS - MAX_MEN_ON_BOARD
        return bool((np.partition(weights, kept, axis=1)[:, kept:].sum(axis=1) > room).any())


def part_shapes(width: int, buckets: int, king_buckets: int) -> list[tuple[int, ...]]:
    """Return the shapes of a network's parts, in the order of the file."""
    return [(king_buckets * INPUTS, width), (width,), (buckets, 2, width), (buckets,)]


def split_parts(numbers: NDArray[Any], width: int, buckets: int, king_buckets: int) -> Parts:
    """Return the parts of a network, as views of an array with all its weights in the order of the file."""
    shapes = part_shapes(width, buckets, king_buckets)
    cuts = np.cumsum([math.prod(shape) for shape in shapes])[:-1]
    first, second, third, fourth = map(np.reshape, np.split(numbers, cuts), shapes)
    return first, second, third, fourth


def bucket_of(men: Any, buckets: int) -> Any:
    """Return the output bucket for a number of men, or for an array of numbers."""
    return (men - 2) // -(-MAX_MEN_ON_BOARD // buckets)


def king_bucket(square: Any) -> Any:
    """Return which of four king buckets a square belongs to, or an array of squares. The square is seen from the side,
    in a mirrored network: 0 for a1 and b1, 1 for c1 and d1, 2 for the second rank, 3 for the other ranks.
    """
    rank = square >> 3
    return np.where(rank == 0, square >> 1 & 1, np.minimum(rank + 1, 3))


def king_views(mirrored: bool, king_buckets: int) -> NDArray[np.int64]:
    """Return a number for each square of a side's king, as seen from the side before files are reversed: 7 if the files
    are reversed, else 0, plus 8 times the king bucket.
    """
    squares = np.arange(64)
    flips = np.where(squares & 4 if mirrored else np.zeros(64), 7, 0)
    buckets = king_bucket(squares ^ flips) if king_buckets > 1 else np.zeros(64)
    return (8 * buckets + flips).astype(np.int64)


def network_bytes(network: Network) -> bytes:
    """Return the content of a network's file; ValueError if the description is too long or has several lines."""
    text = network.description.encode()
    if len(text) > LONGEST_DESCRIPTION or len(network.description.splitlines()) > 1:
        raise ValueError(f"the description must be one line of at most {LONGEST_DESCRIPTION} bytes")
    kings = network.king_buckets * network.mirrored
    header = _HEADER.pack(_VERSION, network.width, network.buckets, kings, network.scale, QA, QB, len(text))
    content = header + text
    content += bytes(-(_START + len(content)) % _ALIGNMENT)
    content += b"".join(part.astype("<i2").tobytes() for part in network.parts())
    return _MAGIC + hashlib.sha256(content).digest() + content


def read_network(file: Path) -> Network:
    """Read a network from a file. A file that cannot be read raises an `OSError`. A `ValueError` with a one-line
    message is raised if the file is damaged or is not a network.
    """
    try:
        if file.exists() and not (file.is_file() or file.is_dir()):  # reading such a file may block or never end
            raise ValueError("a network must be a regular file, not a device or a pipe")
        with file.open("rb") as stream:
            # At most the size that the system reports is read. It is 0 for kernel files, which may be endless.
            return parse_network(stream.read(min(os.fstat(stream.fileno()).st_size, _MAX_BYTES)))
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None


def parse_network(data: bytes) -> Network:
    """Read a network from the content of a file. Errors are as for `read_network`, without the file's name."""
    if data[: len(_MAGIC)] != _MAGIC[: len(data)] or not data:
        raise ValueError("not a network for Knightadder")
    if len(data) < _START + _HEADER.size:
        raise ValueError("the network is truncated")
    version, width, buckets, kings, scale, qa, qb, length = _HEADER.unpack_from(data, _START)
    king_buckets = max(kings, 1)
    begin = _START + _HEADER.size + length
    begin += -begin % _ALIGNMENT
    end = begin + 2 * sum(map(math.prod, part_shapes(width, buckets, king_buckets)))
    whole = hashlib.sha256(memoryview(data)[_START:]).digest() == data[len(_MAGIC) : _START]
    if not whole:
        truncated = version == _VERSION and len(data) < end
        raise ValueError(f"the network is {'truncated' if truncated else 'damaged'}")
    if version != _VERSION or (qa, qb) != (QA, QB) or len(data) != end:
        raise ValueError("the network has the format of a different version of Knightadder")
    numbers = np.frombuffer(data, "<i2", offset=begin).astype(np.int16)
    text = data[_START + _HEADER.size : _START + _HEADER.size + length].decode(errors="replace")
    line = " ".join(text.splitlines())
    return Network(*split_parts(numbers, width, buckets, king_buckets), kings > 0, scale, line)
