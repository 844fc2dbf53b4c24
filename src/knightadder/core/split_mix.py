"""SplitMix64: random numbers by hashing a counter (Steele, Lea and Flood, OOPSLA 2014)."""

import numpy as np

from knightadder.native.jit import inlined, multiply_high


@inlined
def split_mix(seed, number):
    """Return a random number of 64 bits: a hash of `number` that depends on `seed`. With seed 0, the hashes of 1, 2, 3,
    … are the output of SplitMix64 from state 0. In Python, arguments may be arrays.
    """
    mixed = seed ^ number * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


@inlined
def random_below(seed, draws, end):
    """Return a random number from 0 to `end` - 1, given a seed and the number of earlier draws with it."""
    return np.int64(multiply_high(split_mix(seed, np.uint64(draws)), np.uint64(end)))
