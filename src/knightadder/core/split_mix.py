"""SplitMix64: random numbers that are hashes of a counter (Steele, Lea and Flood, OOPSLA 2014)."""

import numpy as np

from .native.jit import inlined


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
