"""Syzygy tablebases, the compressed arrays: from the number of a position to its value.

The values are compressed in two steps. Pairs of neighbours that often occur are replaced by symbols, and pairs of
those again (recursive pairing, RE-PAIR); then the symbols are written with a canonical Huffman code, in blocks of
equal size in bytes. A sparse index says in which block a position lies. The format is Ronald de Man's
(https://github.com/syzygy1/tb).

A file may be damaged. Its header was checked when it was opened (`engine/tablebases/file.py`): the index, the blocks'
sizes and the blocks lie inside the file, and no symbol contains itself. The values in the body are checked here before
they are used as addresses. The file ends with a checksum of 16 bytes, so 8 bytes can be read wherever the table has
at least one.
"""

import numpy as np

from knightadder.native.jit import inlined, kernel, load_unaligned
from knightadder.native.records import record

from .index import MAX_MEN

MAX_CODE_LENGTH = 32  # of a Huffman code in a tablebase, in bits

SYZYGY_PAIRS = record(  # one compressed array of a Syzygy file: the values for one side to move (and pawn file)
    ("pieces", np.uint8, MAX_MEN + 1),  # in the order in which their squares are numbered
    ("groups", np.uint8, MAX_MEN + 1),  # sizes of the groups that are numbered together, then 0
    ("factors", np.int64, MAX_MEN + 1),  # by group: the factor of its number
    ("positions", np.int64),  # length of the array
    ("constant", np.int64),  # the value of all positions; -1 if they are compressed
    ("index_bits", np.int64),  # each entry of the sparse index stands for 2 ** index_bits positions
    ("index_offset", np.int64),  # all offsets are bytes from the start of the file
    ("sizes_offset", np.int64),  # of the blocks' lengths in positions, less 1
    ("size_count", np.int64),
    ("data_offset", np.int64),
    ("block_bits", np.int64),  # binary logarithm of a block's bytes
    ("blocks", np.int64),
    ("min_length", np.int64),  # of a code, in bits
    ("bases", np.uint64, MAX_CODE_LENGTH + 1),  # by length: the lowest code, left-aligned; 0 from the longest on
    ("first_symbols", np.uint16, MAX_CODE_LENGTH + 1),  # by length: the symbol of the lowest code
    ("symbols", np.uint64),  # address of 32-bit words: left symbol or value | right symbol << 12 | (values - 1) << 24
    ("symbol_count", np.int64),
    ("dtz_flags", np.int64),
    ("map_offsets", np.int64, 4),  # of a DTZ file's maps of values: win, loss, cursed win, blessed loss
    ("map_lengths", np.int64, 4),
)

FAILED = np.int64(-1)

_16, _32 = np.uint64(16), np.uint64(32)
_EVEN_BYTES, _EIGHT = np.uint64(0x00FF00FF00FF00FF), np.uint64(8)
_EVEN_WORDS = np.uint64(0x0000FFFF0000FFFF)
_LOW_16, _LOW_32 = np.uint64(0xFFFF), np.uint64(0xFFFFFFFF)


@inlined
def _load(address, offset):
    return load_unaligned(address + np.uint64(offset))


@inlined
def load16(table, offset):
    """Read 16 bits of a table's file, little-endian."""
    return np.int64(_load(table.address, offset) & _LOW_16)


@inlined
def _load_big_endian(table, offset):
    word = _load(table.address, offset)
    word = ((word >> _EIGHT) & _EVEN_BYTES) | ((word & _EVEN_BYTES) << _EIGHT)
    word = ((word >> _16) & _EVEN_WORDS) | ((word & _EVEN_WORDS) << _16)
    return (word >> _32) | (word << _32)


@inlined
def _symbol_word(pairs, symbol):
    return np.int64(_load(pairs.symbols, 4 * symbol) & _LOW_32)


@inlined
def _find_block(table, pairs, index):
    """Return the block that holds a position, and the position's number in it; `FAILED` for a damaged index."""
    bits = pairs.index_bits
    word = _load(table.address, pairs.index_offset + 6 * (index >> bits))
    # The entry points to the position in the middle of those it stands for.
    block = np.int64(word & _LOW_32)
    rest = np.int64((word >> _32) & _LOW_16) + (index & ((1 << bits) - 1)) - (1 << (bits - 1))
    while rest < 0:
        block -= 1
        if block < 0 or block >= pairs.size_count:
            return FAILED, rest
        rest += load16(table, pairs.sizes_offset + 2 * block) + 1
    while block < pairs.blocks:
        size = load16(table, pairs.sizes_offset + 2 * block) + 1
        if rest < size:
            return block, rest
        rest -= size
        block += 1
    return FAILED, rest


@inlined
def _find_symbol(table, pairs, block, rest):
    """Return the word of the symbol that holds a position of a block, and the position's number in it.

    The word is `FAILED` if the file is damaged.
    """
    offset = pairs.data_offset + (block << pairs.block_bits)
    code = _load_big_endian(table, offset)
    offset += 8
    used = np.int64(0)  # bits of `code` that were read; as many of its lowest bits are empty
    while True:
        length = pairs.min_length
        while code < pairs.bases[length]:
            length += 1
        symbol = np.int64((code - pairs.bases[length]) >> np.uint64(64 - length))
        symbol += np.int64(pairs.first_symbols[length])
        if symbol >= pairs.symbol_count:
            return FAILED, rest
        word = _symbol_word(pairs, symbol)
        size = (word >> 24) + 1
        if rest < size:
            return word, rest
        rest -= size
        code <<= np.uint64(length)
        used += length
        if used >= 32:
            used -= 32
            if offset + 8 > table.file_size:
                return FAILED, rest
            code |= (_load_big_endian(table, offset) >> _32) << np.uint64(used)
            offset += 4


@kernel
def decompress(table, pairs, index):
    """Return the value of the position with the number `index`.

    Parameters
    ----------
    table : SYZYGY_TABLE
    pairs : SYZYGY_PAIRS
        One of the table's arrays.
    index : int
        The position's number, see `index.py`.

    Returns
    -------
    int
        0 to 4095; `FAILED` if the file is damaged or the number out of range.
    """
    if pairs.constant >= 0:
        return pairs.constant
    if index < 0 or index >= pairs.positions:
        return FAILED
    block, rest = _find_block(table, pairs, index)
    if block < 0:
        return FAILED
    word, rest = _find_symbol(table, pairs, block, rest)
    if word < 0:
        return FAILED
    while word >> 24:
        left = _symbol_word(pairs, word & 0xFFF)
        size = (left >> 24) + 1
        if rest < size:
            word = left
        else:
            rest -= size
            word = _symbol_word(pairs, (word >> 12) & 0xFFF)
    return word & 0xFFF
