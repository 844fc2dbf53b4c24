"""Decorators for functions to compile, and the few machine instructions that Python lacks.

A compiled function is plain Python with one of three decorators:

`inlined`
    a small helper, which LLVM must inline;
`kernel`
    any other function that compiled code calls;
`Program.exported`
    a function with a signature that Python calls, see `program`.

`disjoint` adds a promise about a kernel. The decorators only record the functions; `builder` compiles them. An exported
function runs the compiled code, which is loaded at the first call. Everything else remains plain Python. With
``KNIGHTADDER_INTERPRET=1``, exported functions and the intrinsics below are plain Python, too.
"""

import ctypes

import numpy as np

KERNELS = {}  # each compiled function, and whether LLVM must inline it
DISJOINT = set()  # the functions of `disjoint`
SELF_CALLS = {}  # by function of `self_call`: the kernel, and the type of its result
INTRINSICS = []


def kernel(function):
    """Mark a function that only compiled code calls."""
    KERNELS[function] = False
    return function


def inlined(function):
    """Mark a small function that LLVM inlines wherever it is called."""
    KERNELS[function] = True
    return function


def disjoint(function):
    """Promise that the arguments of a kernel never share memory. Without this promise, LLVM tests in front of each loop
    over arrays whether it may use vectors.
    """
    DISJOINT.add(function)
    return function


def self_call(function, returns):
    """Return a function by which a kernel calls itself, to save compile time; `returns` is the type of the kernel's
    result.

    The kernel could also call itself by its own name. But to find the result type, Numba would then infer the types of
    the whole kernel again, for each such call and in each round of its inference. That takes half the compile time of a
    large kernel. Here the type is given. Functions inlined into the kernel may call it, too. Each number that the
    kernel is given must be an `int64`.
    """

    def call(*arguments):
        return function(*arguments)

    SELF_CALLS[call] = function, returns
    return call


# --- intrinsics: `intrinsics` has the machine instructions that compiled code runs instead --------------------------


def _intrinsic(function):
    INTRINSICS.append(function)
    return function


@_intrinsic
def popcount(word):
    """Return the number of set bits."""
    return int(word).bit_count()


@_intrinsic
def lsb(word):
    """Return the index of the lowest set bit; undefined for 0."""
    return (int(word) & -int(word)).bit_length() - 1


@_intrinsic
def msb(word):
    """Return the index of the highest set bit; undefined for 0."""
    return int(word).bit_length() - 1


@_intrinsic
def load64(address):
    """Read 64 bits at an address atomically. It never sees a half-written value, and no loop hoists the read."""
    return np.uint64(ctypes.c_uint64.from_address(int(address)).value)


@_intrinsic
def load_unaligned(address):
    """Read 64 bits at any address, in memory that is never written to."""
    return np.uint64(ctypes.c_uint64.from_address(int(address)).value)


@_intrinsic
def store64(address, value):
    """Write 64 bits to an address, atomically."""
    ctypes.c_uint64.from_address(int(address)).value = int(value)


@_intrinsic
def subtract64(address, value):
    """Subtract from the 64 bits at an address, and return the old value. No other thread's write comes in between."""
    word = ctypes.c_int64.from_address(int(address))
    old = word.value
    word.value = old - int(value)
    return np.int64(old)


@_intrinsic
def prefetch(address):
    """Fetch a cache line ahead of its use; does nothing in plain Python."""


@_intrinsic
def prefetch_item(array, index):
    """Fetch an array's item into the cache ahead of its use."""


@_intrinsic
def multiply_high(a, b):
    """Return the high 64 bits of a 128-bit product, which scales a hash to a range without a division."""
    return np.uint64(int(a) * int(b) >> 64)


@_intrinsic
def copy_record(target, source):
    """Copy one record over another of the same type."""
    target.setfield(source, target.dtype)


@_intrinsic
def record_at(address, dtype):
    """View the memory at an address as a record of a structured type."""
    return np.frombuffer((ctypes.c_char * dtype.itemsize).from_address(int(address)), dtype)[0]
