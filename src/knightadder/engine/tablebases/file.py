"""A Syzygy file that is mapped into memory; its header is read and checked, so that compiled code can probe it.

The header determines which addresses compiled code reads, so it is checked completely. Offsets must lie inside the
file, codes must be Huffman codes, and symbols must end in values. The format is Ronald de Man's
(https://github.com/syzygy1/tb).
"""

import contextlib
import mmap
import re
import sys
from math import comb
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from knightadder.core.layout import KING, PAWN
from knightadder.core.syzygy import probe as syzygy
from knightadder.core.syzygy.index import MAX_MEN, PLACEMENTS_OF_KINGS, PLACEMENTS_OF_THREE, lead_placements
from knightadder.core.syzygy.pairs import MAX_CODE_LENGTH
from knightadder.engine.errors import EngineError

if sys.platform != "win32":
    import resource

WDL, DTZ = ".rtbw", ".rtbz"
CHECKSUM = 16  # size in bytes of the checksum at the end of the file; the size of the rest is a multiple of 64

_MAGIC = {WDL: b"\x71\xe8\x23\x5d", DTZ: b"\xd7\x66\x0c\xa5"}
_NAME = re.compile(r"K(Q*R*B*N*P*)vK(Q*R*B*N*P*)")
_LETTERS = "PNBRQ"
_BLACK = 8  # bit of black pieces
_SPLIT, _HAS_PAWNS = 1, 2  # flags of a file
_CONSTANT = 0x80  # flag of an array: all positions have the same value
_MAX_BITS = 31  # maximum logarithm of the number of positions per index entry, and of the size of a block


class TableError(EngineError):
    """A file is not a Syzygy table or is damaged."""


def material_of_name(name: str) -> tuple[str, str] | None:
    """Return the pieces of each side without the king, from a name such as ``KRPvKN``; None for other names."""
    match = _NAME.fullmatch(name)
    if match is None or not 3 <= len(name) - 1 <= MAX_MEN:
        return None
    return match[1], match[2]


def material_key(white: str, black: str) -> int:
    """Return the material key, with 4 bits for each kind of piece, in the core's encoding."""
    key = 0
    for pieces in (white, black):
        for letter in _LETTERS:
            key = (key << 4) | pieces.count(letter)
    return key


class SyzygyFile:
    """A mapped file, named after its material, such as ``KRPvKN.rtbw`` (WDL) or ``KRPvKN.rtbz`` (DTZ); errors are as
    for `check_table`. It fills `table`, a SYZYGY_TABLE, with addresses that are valid only as long as it exists.
    """

    def __init__(self, path: Path, table: np.record) -> None:
        material = material_of_name(path.stem)
        if material is None or path.suffix not in _MAGIC:
            raise TableError("the name of the file is not the name of a table")
        self._white, self._black = material
        self._is_dtz = path.suffix == DTZ
        self._table = table
        self._map = _map(path)
        self._data = np.frombuffer(self._map, np.uint8)
        self._symbols: list[NDArray[np.uint32]] = []
        self._at = 0
        if self._bytes(4) != _MAGIC[path.suffix]:
            raise TableError(f"not a Syzygy {path.suffix} file")
        if len(self._data) % 64 != CHECKSUM:
            raise TableError("truncated")
        table.address = self._data.ctypes.data
        table.file_size = len(self._data)
        table.symmetric = self._white == self._black
        table.has_pawns = "P" in self._white + self._black
        self._read()

    @property
    def changed(self) -> bool:
        """Whether the size of the file has changed since it was mapped."""
        return self._map.size() != len(self._data)

    # --- reading -------------------------------------------------------------------------------------------------

    def _bytes(self, count: int) -> bytes:
        # All parts lie before the checksum. Compiled code relies on this, because it reads 8 bytes at a time.
        start = self._skip(count)
        return self._data[start : self._at].tobytes()

    def _number(self, size: int) -> int:
        return int.from_bytes(self._bytes(size), "little")

    def _skip(self, count: int) -> int:
        """Skip a part of the file, and return the offset of its start."""
        start = self._at
        if count < 0 or start + count > len(self._data) - CHECKSUM:
            raise TableError("truncated, or its header is damaged")
        self._at += count
        return start

    def _align(self, size: int) -> None:
        self._at = -(-self._at // size) * size

    # --- the header ----------------------------------------------------------------------------------------------

    def _read(self) -> None:
        table = self._table
        flags = self._number(1)
        split = not self._is_dtz and not table.symmetric
        _require(bool(flags & _HAS_PAWNS) == bool(table.has_pawns))
        _require(self._is_dtz or bool(flags & _SPLIT) == split)
        files = range(4 if table.has_pawns else 1)
        arrays = [table.pairs[side][file] for file in files for side in range(1 + split)]
        for file in files:
            self._read_pieces(file, [table.pairs[side][file] for side in range(1 + split)])
        table.key = self._key(table.pairs[0][0])
        _require(all(self._key(pairs) == table.key for pairs in arrays))
        _require(all(pairs.pieces[0] == arrays[0].pieces[0] for pairs in arrays) or not table.has_pawns)
        self._align(2)
        index_sizes = [self._read_coding(pairs) for pairs in arrays]
        if self._is_dtz:
            for pairs in arrays:
                self._read_maps(pairs)
            self._align(2)
        for pairs, size in zip(arrays, index_sizes, strict=True):
            pairs.index_offset = self._skip(size)
        for pairs in arrays:
            pairs.sizes_offset = self._skip(2 * int(pairs.size_count))
        for pairs in arrays:
            self._align(64)
            pairs.data_offset = self._skip(int(pairs.blocks) << int(pairs.block_bits))

    def _key(self, pairs: np.record) -> int:
        sides = ["", ""]
        for piece in pairs.pieces.tolist():
            if piece % _BLACK not in (0, KING):
                sides[piece // _BLACK] += _LETTERS[piece % _BLACK - 1]
        # Some files exchange White and Black, compared to their name.
        keys = material_key(self._white, self._black), material_key(self._black, self._white)
        if material_key(*sides) not in keys:
            raise TableError("the pieces in its header do not match its name")
        return material_key(*sides)

    def _read_pieces(self, file: int, sides: list[np.record]) -> None:
        """Read the pieces and the order of their groups. Each side to move has 4 bits of a byte."""
        men = len(self._white) + len(self._black) + 2
        counts = [count for count in (self._white.count("P"), self._black.count("P")) if count]
        orders = self._bytes(2 if len(counts) == 2 else 1)
        codes = self._bytes(men)
        for side, pairs in enumerate(sides):
            pieces = [(code >> 4 * side) & 15 for code in codes]
            _require(all(PAWN <= piece % _BLACK <= KING for piece in pieces))
            _require(pieces.count(KING) == 1 and pieces.count(KING | _BLACK) == 1)
            groups = _groups(pieces, sorted(counts))
            pairs.pieces[:men] = pieces
            pairs.groups[: len(groups)] = groups
            order = [(byte >> 4 * side) & 15 for byte in orders]
            factors, pairs.positions = _factors(groups, order, file if counts else None)
            pairs.factors[: len(groups)] = factors

    def _read_coding(self, pairs: np.record) -> int:
        """Read the coding of an array, and return the size of its sparse index in bytes."""
        pairs.dtz_flags = self._number(1)
        if pairs.dtz_flags & _CONSTANT:
            value = self._number(1)
            pairs.constant = 0 if self._is_dtz else value
            _require(self._is_dtz or value <= 4)
            return 0
        pairs.constant = -1
        block_bits, index_bits, padding = self._bytes(3)
        blocks = self._number(4)
        longest, shortest = self._bytes(2)
        _require(1 <= index_bits <= _MAX_BITS and block_bits <= _MAX_BITS and blocks > 0)
        _require(1 <= shortest <= longest <= MAX_CODE_LENGTH)
        pairs.block_bits, pairs.index_bits, pairs.min_length = block_bits, index_bits, shortest
        pairs.blocks, pairs.size_count = blocks, blocks + padding
        first_symbols = [self._number(2) for _ in range(longest - shortest + 1)]
        symbols = _unpack_symbols(self._bytes(3 * self._number(2)))
        self._align(2)
        self._symbols.append(symbols)
        pairs.symbols, pairs.symbol_count = symbols.ctypes.data, len(symbols) - 1
        # The codes of one length are consecutive, in the order of their symbols. Values below the lowest code of a
        # length are prefixes of longer codes; each is the prefix of two codes that are a bit longer.
        base = 0
        for length in range(longest, shortest - 1, -1):
            i = length - shortest
            pairs.first_symbols[length] = first_symbols[i]
            if length < longest:
                base += first_symbols[i] - first_symbols[i + 1]
                _require(base >= 0)
                base >>= 1
            _require(base < 1 << length)
            pairs.bases[length] = base << 64 - length
        return 6 * -(-int(pairs.positions) >> index_bits)

    def _read_maps(self, pairs: np.record) -> None:
        """Read the maps of a DTZ array, which list the values of the array by frequency."""
        if not pairs.dtz_flags & syzygy.MAPPED:
            return
        size = 2 if pairs.dtz_flags & syzygy.WIDE_MAP else 1
        self._align(size)
        for i in range(4):
            pairs.map_lengths[i] = self._number(size)
            pairs.map_offsets[i] = self._skip(size * int(pairs.map_lengths[i]))


def _require(sound: bool) -> None:
    if not sound:
        raise TableError("its header is damaged")


def _map(path: Path) -> mmap.mmap:
    if path.is_fifo():  # opening it would wait until somebody writes to it
        raise TableError("a pipe, not a file")
    try:
        with path.open("rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except ValueError:
        raise TableError("empty") from None
    except OSError as error:
        raise TableError(error.strerror or "cannot be read") from None


def allow_open_files(count: int) -> None:
    """Let this process open `count` more files, if the system's limit can be raised. Python keeps mapped files open,
    and the tables with six men are about a thousand files, more than many systems allow.
    """
    if sys.platform == "win32":
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count + 1024 if hard == resource.RLIM_INFINITY else min(count + 1024, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _groups(pieces: list[int], pawns: list[int]) -> list[int]:
    """Return the sizes of the groups. `pawns` has each side's number of pawns, the leading side first."""
    if pawns:
        leads = pawns
        alike = [pieces[:count] for count in pawns[:1]] + [pieces[pawns[0] : sum(pawns)]] * (len(pawns) - 1)
        _require(all(len(set(group)) == 1 and group[0] % _BLACK == PAWN for group in alike))
    else:
        singles = sum(pieces.count(piece) == 1 for piece in pieces)
        leads = [3 if singles >= 3 else 2]
        _require(all(pieces.count(piece) == 1 for piece in pieces[: leads[0]]))
    rest = pieces[sum(leads) :]
    groups = list(leads)
    for i, piece in enumerate(rest):
        if i and piece == rest[i - 1]:
            groups[-1] += 1
        else:
            groups.append(1)
    # Equal pieces are adjacent.
    _require(len(groups) - len(leads) == len(set(rest)) and not set(rest) & set(pieces[: sum(leads)]))
    return groups


def _factors(groups: list[int], order: list[int], file: int | None) -> tuple[list[int], int]:
    """Return the factors of the groups, and the number of positions.

    `groups` are the sizes of the groups. `order` has the place of the leading group in the order of significance,
    counted from the least significant place; and the place of the second group, if both sides have pawns. The other
    groups take the remaining places. `file` is the file of the leading pawn, or None without pawns.
    """
    _require(len(set(order)) == len(order) and max(order) < len(groups))
    by_place = dict(zip(order, range(len(order)), strict=True))
    others = iter(range(len(order), len(groups)))
    sequence = [by_place[place] if place in by_place else next(others) for place in range(len(groups))]
    factors = [0] * len(groups)
    positions = 1
    free = 64 - sum(groups[: len(order)])
    for group in sequence:
        factors[group] = positions
        size = groups[group]
        if group >= len(order):
            positions *= comb(free, size)
            free -= size
        elif group == 1:
            positions *= comb(48 - groups[0], size)
        elif file is not None:
            positions *= lead_placements(size, file)
        else:
            positions *= PLACEMENTS_OF_THREE if size == 3 else PLACEMENTS_OF_KINGS
    return factors, positions


def _unpack_symbols(packed: bytes) -> NDArray[np.uint32]:
    """Return the symbols as words (see `SYZYGY_PAIRS`), and one more word, because 8 bytes are read at a time. In the
    file, a symbol has 24 bits: its left and right parts, or a value and 0xFFF.
    """
    bits = np.frombuffer(packed, np.uint8).astype(np.uint32).reshape(-1, 3)
    left = bits[:, 0] | ((bits[:, 1] & 15) << 8)
    right = (bits[:, 1] >> 4) | (bits[:, 2] << 4)
    pairs = right != 0xFFF
    _require(len(bits) > 0 and bool((np.maximum(left, right)[pairs] < len(bits)).all()))
    # The length of a symbol follows from the lengths of its parts. If the length remains unknown, the symbol contains
    # itself.
    lengths = np.where(pairs, 0, 1)
    unknown = np.flatnonzero(pairs)
    while len(unknown):
        parts = lengths[left[unknown]], lengths[right[unknown]]
        ready = (parts[0] > 0) & (parts[1] > 0)
        _require(bool(ready.any()))
        lengths[unknown[ready]] = (parts[0] + parts[1])[ready]
        unknown = unknown[~ready]
        _require(int(lengths.max()) <= 256)
    words = left | (right << 12) | ((lengths - 1).astype(np.uint32) << 24)
    return np.append(words, np.uint32(0)).astype(np.uint32)
