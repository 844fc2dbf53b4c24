"""The compressed arrays of Syzygy tablebases: from the number of a position to its value.

The values are compressed in two steps. First, frequent pairs of neighbours are replaced by symbols, and pairs of
symbols by further symbols (recursive pairing, RE-PAIR). Then the symbols are written in a canonical Huffman code, in
blocks of equal size in bytes. A sparse index tells which block contains a position. The format is Ronald de Man's
(https://github.com/syzygy1/tb).

A file may be damaged. When it is opened, `engine/tablebases/file.py` checks that the sparse index, the sizes of the
blocks and the blocks lie inside the file, and that no symbol contains itself. This module checks the other values
before it uses them as addresses. The file ends with a checksum of 16 bytes, so 8 bytes can be read wherever the table
has at least one byte.
"""

import numpy as np

from knightadder.native.jit import inlined, kernel, load_unaligned
from knightadder.native.records import record

from .index import MAX_MEN

MAX_CODE_LENGTH = 32  # bits of a Huffman code in a tablebase

SYZYGY_PAIRS = record(  # a compressed array of a Syzygy file: the values for one side to move (and pawn file)
    ("pieces", np.uint8, MAX_MEN + 1),  # pieces, in the order in which their squares are numbered
    ("groups", np.uint8, MAX_MEN + 1),  # sizes of the groups of pieces, then 0
    ("factors", np.int64, MAX_MEN + 1),  # factors by which the groups' numbers are multiplied
    ("positions", np.int64),  # number of positions in the array
    ("constant", np.int64),  # the value of all positions if they have the same value; else -1
    ("index_bits", np.int64),  # each entry of the sparse index stands for 2 ** index_bits positions
    ("index_offset", np.int64),  # offset of the sparse index; all offsets are bytes from the start of the file
    ("sizes_offset", np.int64),  # offset of the list of block sizes: numbers of positions minus 1
    ("size_count", np.int64),
    ("data_offset", np.int64),
    ("block_bits", np.int64),  # binary logarithm of the size of a block in bytes
    ("blocks", np.int64),
    ("min_length", np.int64),  # minimum length of a code, in bits
    ("bases", np.uint64, MAX_CODE_LENGTH + 1),  # lowest code by length, left-aligned; 0 for the longest codes
    ("first_symbols", np.uint16, MAX_CODE_LENGTH + 1),  # symbol of the lowest code, by length
    # Address of the symbols' 32-bit words: left symbol or value | (right symbol << 12) | ((value count - 1) << 24).
    ("symbols", np.uint64),
    ("symbol_count", np.int64),
    ("dtz_flags", np.int64),
    ("map_offsets", np.int64, 4),  # value maps of a DTZ file: win, loss, cursed win, blessed loss
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
    """Return 16 bits of a file as a little-endian number."""
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
    """Return the block that contains a position (`FAILED` in a damaged file), and the position's
    number in the block.
    """
    bits = pairs.index_bits
    word = _load(table.address, pairs.index_offset + 6 * (index >> bits))
    # An entry of the sparse index refers to the middle of its positions.
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
    """Find the symbol that contains position `rest` of a block; return the symbol's word (`FAILED` if the file is
    damaged), and the number of the position among those of the symbol.
    """
    offset = pairs.data_offset + (block << pairs.block_bits)
    code = _load_big_endian(table, offset)
    offset += 8
    used = np.int64(0)  # number of bits read from `code`, which is also the number of its empty low bits
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
    """Return the value of the position with the number `index`, 0 to 4095; `FAILED` if the file is damaged."""
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
