"""The compile decorators and the few machine instructions that Numba lacks.

Only this module knows LLVM. Functions of the core carry one of three decorators:

`inlined`
    a small helper that LLVM must inline;
`kernel`
    any other function called from compiled code only: no Python wrapper, no cache file of its own;
`entry`
    a function that Python calls: it has an explicit signature and is kept on disk.

With ``NUMBA_DISABLE_JIT=1`` all of it runs as plain Python, for line coverage and a debugger; each intrinsic then
has a stand-in that does the same. With ``NUMBA_BOUNDSCHECK=1`` every index is checked.
"""

import ctypes
import inspect

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils, config
from numba.extending import intrinsic

from . import cache

CACHE = cache.configure()

_COMMON = {"nogil": True, "error_model": "numpy"}
_INNER = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

KERNELS: list = []
ENTRIES: list = []


def kernel(function):
    """Compile a function that only compiled code calls."""
    compiled = njit(**_COMMON, **_INNER)(function)
    KERNELS.append(compiled)
    return compiled


def inlined(function):
    """Compile a small function that LLVM inlines wherever it is called."""
    return njit(**_COMMON, **_INNER, forceinline=True)(function)


def self_call(function, returns):
    """Return a function by which a kernel calls itself, to save compile time.

    The kernel could also call itself by its own name. But to find the type that such a call returns, Numba infers the
    types of the whole kernel once more, for each call in it and in each round of its inference: half the time that
    search takes to compile. Here the type is given.

    Parameters
    ----------
    function : kernel
        The only function that may call the result.
    returns : Numba type
        What the kernel returns.
    """
    if config.DISABLE_JIT:
        return function

    def call(typing_context, *arguments):
        return returns(*map(types.unliteral, arguments)), generate

    def generate(context, builder, signature, arguments):
        caller = context.fndesc
        if caller.qualname != function.py_func.__qualname__ or caller.restype != returns:
            raise TypeError(f"{caller.qualname}, which returns {caller.restype}, is not what calls itself here")
        given = zip(arguments, signature.args, caller.argtypes, strict=True)
        cast = [context.cast(builder, value, kind, wanted) for value, kind, wanted in given]
        return context.call_internal(builder, caller, returns(*caller.argtypes), cast)

    own = inspect.signature(function.py_func)
    typing_context = inspect.Parameter("typing_context", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    call.__signature__ = own.replace(parameters=[typing_context, *own.parameters.values()])
    return intrinsic(call)


def entry(signature):
    """Declare a function that Python calls; `compiling` compiles it, or loads it from disk."""

    def decorate(function):
        compiled = njit(cache=CACHE.path is not None, no_cfunc_wrapper=True, **_COMMON)(function)
        ENTRIES.append((compiled, signature))
        return compiled

    return decorate


# --- intrinsics ----------------------------------------------------------------------------------------------------

_I1, _I32, _I64, _I128 = ir.IntType(1), ir.IntType(32), ir.IntType(64), ir.IntType(128)
_BYTES = ir.IntType(8).as_pointer()


@intrinsic
def _popcount(typing_context, bitboard):
    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


@intrinsic
def _lsb(typing_context, bitboard):
    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(_I1, 1))

    return types.int64(types.uint64), generate


@intrinsic
def _msb(typing_context, bitboard):
    def generate(context, builder, signature, arguments):
        return builder.sub(ir.Constant(_I64, 63), builder.ctlz(arguments[0], ir.Constant(_I1, 1)))

    return types.int64(types.uint64), generate


def _pointer(builder, address, kind):
    return builder.inttoptr(address, kind.as_pointer())


@intrinsic
def _load64(typing_context, address):
    def generate(context, builder, signature, arguments):
        return builder.load_atomic(_pointer(builder, arguments[0], _I64), "monotonic", 8)

    return types.uint64(types.uint64), generate


@intrinsic
def _load_unaligned(typing_context, address):
    def generate(context, builder, signature, arguments):
        return builder.load(_pointer(builder, arguments[0], _I64), align=1)

    return types.uint64(types.uint64), generate


@intrinsic
def _store64(typing_context, address, value):
    def generate(context, builder, signature, arguments):
        builder.store_atomic(arguments[1], _pointer(builder, arguments[0], _I64), "monotonic", 8)
        return context.get_dummy_value()

    return types.void(types.uint64, types.uint64), generate


@intrinsic
def _prefetch(typing_context, address):
    def generate(context, builder, signature, arguments):
        kind = ir.FunctionType(ir.VoidType(), [_BYTES, _I32, _I32, _I32])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        place = _pointer(builder, arguments[0], ir.IntType(8))
        read, keep, data = ir.Constant(_I32, 0), ir.Constant(_I32, 3), ir.Constant(_I32, 1)
        builder.call(function, [place, read, keep, data])
        return context.get_dummy_value()

    return types.void(types.uint64), generate


@intrinsic
def _multiply_high(typing_context, a, b):
    def generate(context, builder, signature, arguments):
        product = builder.mul(builder.zext(arguments[0], _I128), builder.zext(arguments[1], _I128))
        return builder.trunc(builder.lshr(product, ir.Constant(_I128, 64)), _I64)

    return types.uint64(types.uint64, types.uint64), generate


@intrinsic
def _copy_record(typing_context, target, source):
    size = target.size

    def generate(context, builder, signature, arguments):
        cgutils.raw_memcpy(builder, arguments[0], arguments[1], ir.Constant(_I64, size), 1, align=8)
        return context.get_dummy_value()

    return types.void(target, source), generate


@intrinsic
def _record_at(typing_context, address, dtype):
    def generate(context, builder, signature, arguments):
        return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

    return dtype.dtype(types.uint64, dtype), generate


if config.DISABLE_JIT:

    def popcount(bitboard):
        """Return the number of set bits."""
        return int(bitboard).bit_count()

    def lsb(bitboard):
        """Return the index of the lowest set bit; undefined for 0."""
        return (int(bitboard) & -int(bitboard)).bit_length() - 1

    def msb(bitboard):
        """Return the index of the highest set bit; undefined for 0."""
        return int(bitboard).bit_length() - 1

    def load64(address):
        """Read 64 bits at an address."""
        return np.uint64(ctypes.c_uint64.from_address(int(address)).value)

    def load_unaligned(address):
        """Read 64 bits at any address."""
        return load64(address)

    def store64(address, value):
        """Write 64 bits to an address."""
        ctypes.c_uint64.from_address(int(address)).value = int(value)

    def prefetch(address):
        """Do nothing: plain Python cannot prefetch."""

    def multiply_high(a, b):
        """Return the high 64 bits of the 128-bit product."""
        return np.uint64(int(a) * int(b) >> 64)

    def copy_record(target, source):
        """Copy one record over another of the same type."""
        target.setfield(source, target.dtype)

    def record_at(address, dtype):
        """Return the memory at an address as a record."""
        return np.frombuffer((ctypes.c_char * dtype.itemsize).from_address(int(address)), dtype)[0]

else:
    #: Number of set bits.
    popcount = _popcount
    #: Index of the lowest set bit; undefined for 0.
    lsb = _lsb
    #: Index of the highest set bit; undefined for 0.
    msb = _msb
    #: Read 64 bits at an address, atomically, so that no reader sees half a write and no loop hoists the read.
    load64 = _load64
    #: Read 64 bits at any address, in memory that nobody writes.
    load_unaligned = _load_unaligned
    #: Write 64 bits to an address, atomically.
    store64 = _store64
    #: Fetch a cache line ahead of its use.
    prefetch = _prefetch
    #: High 64 bits of the 128-bit product: scales a hash to a range without a division.
    multiply_high = _multiply_high
    #: Copy one record over another of the same type.
    copy_record = _copy_record
    #: View the memory at an address as a record of a structured type.
    record_at = _record_at

__all__ = [
    "CACHE",
    "ENTRIES",
    "copy_record",
    "entry",
    "inlined",
    "kernel",
    "load64",
    "load_unaligned",
    "lsb",
    "msb",
    "multiply_high",
    "popcount",
    "prefetch",
    "record_at",
    "self_call",
    "store64",
]
