"""The compiled functions."""

import numpy as np

from knightadder.native.jit import inlined, kernel, lsb
from knightadder.native.records import new_record, record
from knightadder.native.signatures import int64, record_type, void

from . import collatz

SMALL = 1000
KNOWN = record(("lengths", np.int64, SMALL))
Known = record_type(KNOWN)


@inlined
def halve(n):
    """Divide a number by two until it is odd, and return the quotient and the number of divisions."""
    zeros = lsb(np.uint64(n))
    return n >> zeros, zeros


@kernel
def length(known, n):
    """Count the steps from a number to one."""
    steps = np.int64(0)
    while n >= SMALL or known.lengths[n] == 0:
        if n == 1:
            return steps
        if n & 1:
            n, steps = 3 * n + 1, steps + 1
        n, halvings = halve(n)
        steps += halvings
    return steps + known.lengths[n]


@collatz.constant(Known)
def known_lengths():
    """Count the steps of small numbers; plain Python runs this once, when an image is built."""
    known = new_record(KNOWN)
    for n in range(2, SMALL):
        known.lengths[n] = length(known, n)
    return known


@collatz.exported(int64(Known, int64, int64))
def longest(known, start, end):
    """Return the number from `start` to `end` - 1 whose way to one is the longest."""
    best, most = start, np.int64(-1)
    for n in range(start, end):
        steps = length(known, n)
        if steps > most:
            best, most = n, steps
    return best


@collatz.exported(void(Known, int64, int64[::1]))
def write_lengths(known, start, counts):
    """Write the steps of consecutive numbers to an array."""
    for i in range(len(counts)):
        counts[i] = length(known, start + i)
