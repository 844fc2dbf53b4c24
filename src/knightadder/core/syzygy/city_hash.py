"""CityHash: the functions that the checksums of Syzygy files need.

These are CityHashCrc256 and CityHashCrc128 of CityHash 1.0 by Geoff Pike and Jyrki Alakuijala. Later versions give
different values. They use the cyclic redundancy check CRC-32C of 64 bits at a time, for which x86 processors have an
instruction. Here tables compute it, eight bytes at a time ("slicing by 8").
"""

import numpy as np

from knightadder.native.jit import inlined, load_unaligned

_u64 = np.uint64  # the type of all numbers in a hash
_K0 = _u64(0xC3A5C85C97CB3127)
_K1 = _u64(0xB492B66FBE98F273)
_K3 = _u64(0xC949D7C7509E6557)
_PAIR_FACTOR = _u64(0x9DDFEA08EB382D69)
_BYTE, _ONE, _WORD_BITS = _u64(0xFF), _u64(1), _u64(64)
_STEP = 40  # bytes
_ROUND = 6  # steps
SHORTEST = _ROUND * _STEP  # minimum number of bytes to hash to 256 bits; shorter data is padded with zeros
_CRC_POLYNOMIAL = 0x82F63B78  # Castagnoli's polynomial, lowest bit first


def _new_crc_table():
    """Return the CRC of each byte followed by 0 to 7 zero bytes."""
    table = np.zeros((8, 256), np.uint32)
    crc = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        crc = (crc >> 1) ^ np.where(crc & 1, np.uint32(_CRC_POLYNOMIAL), np.uint32(0))
    for zeros in range(8):
        table[zeros] = crc
        crc = (crc >> 8) ^ table[0][crc & 255]
    return table


#: The table that `city_hash_crc_256` needs.
CRC_TABLE = _new_crc_table()


# --- parts of both hashes ------------------------------------------------------------------------------------------


@inlined
def _rotate(word, bits):
    """Rotate a word to the right, by 1 to 63 bits."""
    return (word >> bits) | (word << (_WORD_BITS - bits))


@inlined
def _mix(word):
    return word ^ (word >> _u64(47))


@inlined
def _pair(low, high):
    """Hash 128 bits to 64."""
    word = _mix((low ^ high) * _PAIR_FACTOR)
    return _mix((high ^ word) * _PAIR_FACTOR) * _PAIR_FACTOR


# --- 256 bits ------------------------------------------------------------------------------------------------------


@inlined
def _crc(table, crc, word):
    """Return the CRC-32C, without the usual inversions, of the data so far and 8 more bytes."""
    word ^= crc
    crc = _u64(0)
    for i in range(8):
        crc ^= _u64(table[7 - i, np.int64((word >> _u64(8 * i)) & _BYTE)])
    return crc


def city_hash_crc_256(crc_table, address, size, seed, result):
    """Hash `size` bytes, at least `SHORTEST`, at an address to 256 bits, and write them as four words into `result`.
    `crc_table` is `CRC_TABLE`, indexed by the number of zero bytes that follow and by byte. `seed` has 32 bits.
    """
    count = _u64(size)
    a = load_unaligned(address + _u64(56)) + _K0
    b = load_unaligned(address + _u64(96)) + _K0
    c = first = _pair(b, count)
    d = second = load_unaligned(address + _u64(120)) * _K0 + count
    e = load_unaligned(address + _u64(184)) + seed
    t = c + d
    # The CRCs of a to e, over all steps.
    f, g, h, i, j = seed, _u64(0), _u64(0), _u64(0), _u64(0)
    whole_rounds = size // (_ROUND * _STEP) * _ROUND
    for step in range((size + _STEP - 1) // _STEP):
        # The last step may overlap the one before it.
        place = address + _u64(min(_STEP * step, size - _STEP))
        # Every other step of the full rounds omits the factor.
        less, factor = _u64(0), _K0
        if step < whole_rounds and step % 2 == 0:
            less, factor = _ONE, _ONE
        old = a
        a = _rotate(b, _u64(41) - less) * factor + load_unaligned(place)
        b = _rotate(c, _u64(27) - less) * factor + load_unaligned(place + _u64(8))
        c = _rotate(d, _u64(41) - less) * factor + load_unaligned(place + _u64(16))
        d = _rotate(e, _u64(33) - less) * factor + load_unaligned(place + _u64(24))
        e = _rotate(t, _u64(25) - less) * factor + load_unaligned(place + _u64(32))
        t = old
        f = _crc(crc_table, f, a)
        g = _crc(crc_table, g, b)
        h = _crc(crc_table, h, c)
        i = _crc(crc_table, i, d)
        j = _crc(crc_table, j, e)
    j += i << _u64(32)
    a = _pair(a, j)
    h += g << _u64(32)
    b += h
    c = _pair(c, f) + i
    d = _pair(d, e + first)
    j += e
    i += _pair(h, t)
    e = _pair(a, d) + j
    f = _pair(b, c) + a
    g = _pair(j, i) + c
    first = e + f + g + h
    a = _mix((a + g) * _K0) * _K0 + b
    second += a + first
    a = _mix(a * _K0) * _K0 + c
    third = a + second
    a = _mix((a + e) * _K0) * _K0
    result[0], result[1], result[2], result[3] = first, second, third, a + third


# --- 128 bits ------------------------------------------------------------------------------------------------------


def city_hash_crc_128(address, size, result):
    """Hash 32, 64, … 896 bytes at an address to 128 bits, and write them as two words into `result`."""
    low = load_unaligned(address) ^ _K3
    high = load_unaligned(address + _u64(8))
    address += _u64(16)
    size -= 16
    if size < 128:
        low, high = _murmur(address, size, low, high)
    else:
        low, high = _city(address, size, low, high)
    result[0], result[1] = low, high


@inlined
def _murmur(address, size, a, b):
    """Hash 16, 48, 80 or 112 bytes with a seed of 128 bits."""
    end = address + _u64(size)
    last, but_one = load_unaligned(end - _u64(8)), load_unaligned(end - _u64(16))
    if size == 16:
        a = _mix(a * _K1) * _K1
        c = b * _K1 + (_pair(but_one, _rotate(last + _u64(16), _u64(16))) ^ last)
        d = _mix(a + but_one)
    else:
        # The last 16 bytes come first, then the rest in order.
        c = _pair(last + _K1, a)
        d = _pair(b + _u64(size), c + but_one)
        a += d
        for offset in range(0, size - 16, 16):
            place = address + _u64(offset)
            a = (a ^ _mix(load_unaligned(place) * _K1) * _K1) * _K1
            b ^= a
            c = (c ^ _mix(load_unaligned(place + _u64(8)) * _K1) * _K1) * _K1
            d ^= c
    a = _pair(a, c)
    b = _pair(d, b)
    return a ^ b, _pair(b, a)


@inlined
def _weak(address, low, high):
    """Hash 32 bytes with a seed of 128 bits, quickly but weakly."""
    last = load_unaligned(address + _u64(24))
    low += load_unaligned(address)
    high = _rotate(high + low + last, _u64(21)) + low
    low += load_unaligned(address + _u64(8)) + load_unaligned(address + _u64(16))
    high += _rotate(low, _u64(44))
    return low + last, high


@inlined
def _city(address, size, x, y):
    """Hash at least 128 bytes with a seed of 128 bits."""
    z = _u64(size) * _K1
    v_low = _rotate(y ^ _K1, _u64(49)) * _K1 + load_unaligned(address)
    v_high = _rotate(v_low, _u64(42)) * _K1 + load_unaligned(address + _u64(8))
    w_low = _rotate(y + z, _u64(35)) * _K1 + x
    w_high = _rotate(x + load_unaligned(address + _u64(88)), _u64(53)) * _K1
    for offset in range(0, size // 128 * 128, 64):
        place = address + _u64(offset)
        x = _rotate(x + y + v_low + load_unaligned(place + _u64(8)), _u64(37)) * _K1
        y = _rotate(y + v_high + load_unaligned(place + _u64(48)), _u64(42)) * _K1
        x ^= w_high
        y += v_low + load_unaligned(place + _u64(40))
        z = _rotate(z + w_low, _u64(33)) * _K1
        v_low, v_high = _weak(place, v_high * _K1, x + w_low)
        w_low, w_high = _weak(place + _u64(32), z + w_high, y + load_unaligned(place + _u64(16)))
        x, z = z, x
    x += _rotate(v_low + z, _u64(49)) * _K0
    z += _rotate(w_low, _u64(37)) * _K0
    # The rest is read in pieces of 32 bytes, from the end. The last piece may overlap bytes that have been read.
    place = address + _u64(size)
    for _ in range((size % 128 + 31) // 32):
        place -= _u64(32)
        y = _rotate(x + y, _u64(42)) * _K0 + v_high
        w_low += load_unaligned(place + _u64(16))
        x = x * _K0 + w_low
        z += w_high + load_unaligned(place)
        w_high += v_low
        v_low, v_high = _weak(place, v_low + z, v_high)
    x = _pair(x, v_low)
    y = _pair(y + z, w_low)
    return _pair(x + v_high, w_high) + y, _pair(x + w_high, y + v_high)
