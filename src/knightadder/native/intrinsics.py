"""The machine instructions of `jit`'s intrinsics, in LLVM's language; imported only to compile."""

import inspect

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_I1, _I32, _I64, _I128 = ir.IntType(1), ir.IntType(32), ir.IntType(64), ir.IntType(128)
_BYTES = ir.IntType(8).as_pointer()


@intrinsic
def popcount(typing_context, word):
    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


@intrinsic
def lsb(typing_context, word):
    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(_I1, 1))

    return types.int64(types.uint64), generate


@intrinsic
def msb(typing_context, word):
    def generate(context, builder, signature, arguments):
        return builder.sub(ir.Constant(_I64, 63), builder.ctlz(arguments[0], ir.Constant(_I1, 1)))

    return types.int64(types.uint64), generate


def _pointer(builder, address, kind):
    return builder.inttoptr(address, kind.as_pointer())


@intrinsic
def load64(typing_context, address):
    def generate(context, builder, signature, arguments):
        return builder.load_atomic(_pointer(builder, arguments[0], _I64), "monotonic", 8)

    return types.uint64(types.uint64), generate


@intrinsic
def load_unaligned(typing_context, address):
    def generate(context, builder, signature, arguments):
        return builder.load(_pointer(builder, arguments[0], _I64), align=1)

    return types.uint64(types.uint64), generate


@intrinsic
def store64(typing_context, address, value):
    def generate(context, builder, signature, arguments):
        builder.store_atomic(arguments[1], _pointer(builder, arguments[0], _I64), "monotonic", 8)
        return context.get_dummy_value()

    return types.void(types.uint64, types.uint64), generate


@intrinsic
def subtract64(typing_context, address, value):
    def generate(context, builder, signature, arguments):
        return builder.atomic_rmw("sub", _pointer(builder, arguments[0], _I64), arguments[1], "monotonic")

    return types.int64(types.uint64, types.int64), generate


def _prefetch(builder, place):
    kind = ir.FunctionType(ir.VoidType(), [_BYTES, _I32, _I32, _I32])
    function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
    read, keep, data = ir.Constant(_I32, 0), ir.Constant(_I32, 3), ir.Constant(_I32, 1)
    builder.call(function, [builder.bitcast(place, _BYTES), read, keep, data])


@intrinsic
def prefetch(typing_context, address):
    def generate(context, builder, signature, arguments):
        _prefetch(builder, _pointer(builder, arguments[0], ir.IntType(8)))
        return context.get_dummy_value()

    return types.void(types.uint64), generate


@intrinsic
def prefetch_item(typing_context, array, index):
    def generate(context, builder, signature, arguments):
        items = context.make_array(array)(context, builder, arguments[0])
        _prefetch(builder, builder.gep(items.data, [arguments[1]]))
        return context.get_dummy_value()

    return types.void(array, types.uint64), generate


@intrinsic
def multiply_high(typing_context, a, b):
    def generate(context, builder, signature, arguments):
        product = builder.mul(builder.zext(arguments[0], _I128), builder.zext(arguments[1], _I128))
        return builder.trunc(builder.lshr(product, ir.Constant(_I128, 64)), _I64)

    return types.uint64(types.uint64, types.uint64), generate


@intrinsic
def copy_record(typing_context, target, source):
    size = target.size

    def generate(context, builder, signature, arguments):
        cgutils.raw_memcpy(builder, arguments[0], arguments[1], ir.Constant(_I64, size), 1, align=8)
        return context.get_dummy_value()

    return types.void(target, source), generate


@intrinsic
def record_at(typing_context, address, dtype):
    def generate(context, builder, signature, arguments):
        return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

    return dtype.dtype(types.uint64, dtype), generate


def second_name(function):
    """Return the name that LLVM gives to a kernel where it calls itself. The builder defines this name."""
    return f"{function.__module__}.{function.__qualname__} again"


def self_call(function, returns):
    """Make the intrinsic by which a kernel calls itself; see `jit.self_call`."""

    def call(typing_context, *arguments):
        return returns(*map(types.unliteral, arguments)), generate

    def generate(context, builder, signature, arguments):
        caller = context.fndesc
        if caller.qualname == function.__qualname__ and caller.restype == returns:  # needs no name from the builder
            given = zip(arguments, signature.args, caller.argtypes, strict=True)
            cast = [context.cast(builder, value, kind, each) for value, kind, each in given]
            return context.call_internal(builder, caller, returns(*caller.argtypes), cast)
        wanted = [types.int64 if isinstance(kind, types.Integer | types.Boolean) else kind for kind in signature.args]
        given = zip(arguments, signature.args, wanted, strict=True)
        cast = [context.cast(builder, value, kind, each) for value, kind, each in given]
        kernel = context.call_conv.get_function_type(returns, wanted)
        called = cgutils.get_or_insert_function(builder.module, kernel, second_name(function))
        return context.call_conv.call_function(builder, called, returns, wanted, cast)[1]

    own = inspect.signature(function)
    typing_context = inspect.Parameter("typing_context", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    call.__signature__ = own.replace(parameters=[typing_context, *own.parameters.values()])
    return intrinsic(call)
