"""SplitMix64: random numbers that are hashes of a counter (Steele, Lea and Flood, OOPSLA 2014)."""

import numpy as np

from knightadder.native.jit import inlined, multiply_high


@inlined
def split_mix(seed, number):
    """Return a random number of 64 bits: the hash of a number.

    Parameters
    ----------
    seed : uint64
        Another seed gives other hashes. With 0, those of 1, 2, 3, ... are the output of SplitMix64 from state 0.
    number : uint64
        Or in Python an array of uint64, whose hashes are returned; `seed` may then be one, too.
    """
    mixed = seed ^ number * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


@inlined
def random_below(seed, draws, end):
    """Return a random number from 0 to `end` - 1, which depends on a seed and on the number of draws before it."""
    return np.int64(multiply_high(split_mix(seed, np.uint64(draws)), np.uint64(end)))
