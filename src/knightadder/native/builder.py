"""The builder: it compiles a whole program into one image of machine code, see `program`.

Numba types every function and lowers it to LLVM's language. The builder joins these pieces to one module, which LLVM
optimises as a whole; `linking` turns the result into an image. Five parts of Numba are replaced, the last two to save
time:

- The calling convention. Numba's functions return a status, for exceptions, and their value through a pointer. The
  compiled code raises nothing, so its functions just return their value.
- Negative indices. Python counts them from the end, and Numba tests each signed index for that. Compiled code does not
  use negative indices, so they are out of range, as in C.
- The compilation of each function: its piece is kept as text, instead of being compiled alone.
- The passes for each function: only those that plain functions need are left.
- The search for the result type of an operator or a NumPy function: it is made only once for the same types.
"""

import argparse
import gc
import importlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import llvmlite.binding as llvm
import numba
from llvmlite import ir
from numba.core import callconv, cgutils, codegen, compiler, typed_passes, types, untyped_passes
from numba.core.registry import cpu_target
from numba.np import arrayobj

from . import images, intrinsics, jit, program
from .linking import link

_I64, _POINTER = ir.IntType(64), ir.IntType(8).as_pointer()


@dataclass(frozen=True)
class Target:
    """A kind of processor, with an operating system's calling convention.

    `name` is the name of its images. `triple`, `cpu` and `features` are LLVM's; all targets use ELF, because `linking`
    reads no other format. `tune` is the processor whose latencies LLVM assumes. It affects only the speed: every
    processor with the instructions of `cpu` can run the code.
    """

    name: str
    triple: str
    cpu: str
    tune: str
    features: str = ""


_WIDE = "-prefer-256-bit"  # vectors of 512 bits; LLVM avoids them because of older processors

# Each level of x86-64 is tuned for the processors that introduced it; about v4, see `processors.x86_64_level`. All
# systems except Windows call functions like ours in the same way. macOS and Windows reserve register x18.
_ALL = (
    Target("x86-64-v4", "x86_64-unknown-linux-gnu", "x86-64-v4", "icelake-server", _WIDE),
    Target("x86-64-v3", "x86_64-unknown-linux-gnu", "x86-64-v3", "haswell"),
    Target("x86-64-v2", "x86_64-unknown-linux-gnu", "x86-64-v2", "nehalem"),
    Target("windows-x86-64-v4", "x86_64-pc-windows-msvc-elf", "x86-64-v4", "icelake-server", _WIDE),
    Target("windows-x86-64-v3", "x86_64-pc-windows-msvc-elf", "x86-64-v3", "haswell"),
    Target("windows-x86-64-v2", "x86_64-pc-windows-msvc-elf", "x86-64-v2", "nehalem"),
    Target("aarch64", "aarch64-unknown-linux-gnu", "generic", "generic", "+reserve-x18"),
)
TARGETS = {target.name: target for target in _ALL}

# The functions that LLVM would otherwise call in the C library. "no-builtins" keeps LLVM from replacing the loops in
# them by calls of these functions.
_LOOP = """
define hidden ptr @{name}(ptr %target, {kind} %source, i64 %size) uwtable "no-builtins" {{
  br label %test
test:
  %i = phi i64 [ 0, %0 ], [ %next, %loop ]
  %more = icmp ult i64 %i, %size
  br i1 %more, label %loop, label %end
loop:
  %next = add i64 %i, 1
  {byte}
  %to = getelementptr i8, ptr %target, i64 {place}
  store i8 %byte, ptr %to
  br label %test
end:
  ret ptr %target
}}
"""
_READ = "%from = getelementptr i8, ptr %source, i64 {place}\n  %byte = load i8, ptr %from"
_EITHER_WAY = """%backward = icmp ugt ptr %target, %source
  %last = sub i64 %size, %next
  %place = select i1 %backward, i64 %last, i64 %i
  """
_RUNTIME = (
    # The functions that Numba calls for arrays. Counting references does nothing, because the caller owns all arrays.
    "define void @NRT_incref(ptr %array) alwaysinline { ret void }\n"
    "define void @NRT_decref(ptr %array) alwaysinline { ret void }\n"
    + _LOOP.format(name="memcpy", kind="ptr", place="%i", byte=_READ.format(place="%i"))
    + _LOOP.format(name="memmove", kind="ptr", place="%place", byte=_EITHER_WAY + _READ.format(place="%place"))
    + _LOOP.format(name="memset", kind="i32", place="%i", byte="%byte = trunc i32 %source to i8")
)
# With bounds checks, an index out of range ends the process.
_TRAP = """
declare void @llvm.trap()
define void @raise_exception() cold noreturn uwtable { call void @llvm.trap() unreachable }
"""

_taught = {}  # Numba's object for each function; kept here because Numba keeps no reference


class _Piece(codegen.JITCodeLibrary):
    """The lowered code of one function, kept as text."""

    texts: ClassVar[list[str]] = []
    on_text: ClassVar[Callable[[], None]]  # called after each function has been lowered

    def __init__(self, generator, name):
        codegen.CodeLibrary.__init__(self, generator, name)
        self._linking_libraries = []
        self._reload_init = set()  # Numba 0.63 reads it

    def add_ir_module(self, ir_module):
        self.texts.append(cgutils.normalize_ir_text(str(ir_module)))
        _Piece.on_text()

    def finalize(self):
        self._finalized = True

    def add_linking_library(self, library):
        pass

    def get_pointer_to_function(self, name):
        return 0


class _ByValue(callconv.BaseCallConv):
    """The calling convention: functions return their value and nothing else."""

    def _make_call_helper(self, builder):
        return None

    def get_function_type(self, restype, argtypes):
        arguments = self._get_arg_packer(argtypes).argument_types
        return ir.FunctionType(self.get_return_type(restype).pointee, list(arguments))

    def decorate_function(self, fn, args, fe_argtypes, noalias=False):
        self._get_arg_packer(fe_argtypes).assign_names(fn.args, [f"arg.{name}" for name in args])
        for argument in fn.args:
            if noalias and isinstance(argument.type, ir.PointerType):
                argument.add_attribute("noalias")

    def get_arguments(self, func):
        return func.args

    def return_value(self, builder, retval):
        builder.ret(retval)

    def return_native_none(self, builder):
        builder.ret(cgutils.get_null_value(builder.function.function_type.return_type))

    def return_status_propagate(self, builder, status):
        builder.unreachable()  # because no status is an error

    def return_user_exc(self, builder, exc, exc_args=None, loc=None, func_name=None):
        # If a call remains after optimisation, it refers to an undefined symbol, which the linker refuses.
        kind = ir.FunctionType(ir.VoidType(), [])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, "raise_exception"), [])
        builder.unreachable()

    def return_dynamic_user_exc(self, builder, exc, exc_args, nb_types, loc=None, func_name=None):
        self.return_user_exc(builder, exc)

    def call_function(self, builder, callee, resty, argtys, args, attrs=()):
        value = builder.call(callee, list(self._get_arg_packer(argtys).as_arguments(builder, args)))
        yes, no = cgutils.true_bit, cgutils.false_bit
        status = callconv.Status(None, yes, no, no, no, no, no, None)  # fields in order: no error, no None
        status = status._replace(is_ok=yes, is_none=no, is_error=no)
        return status, self.context.get_returned_value(builder, resty, value)


class _Compiler(compiler.CompilerBase):
    """Numba's pipeline from byte code to LLVM's language, without the passes that no compiled function here needs.

    Left out are closures, generators, inlining and array expressions on Numba's level, parallel loops, and
    `literal_unroll`. The code stays the same, and the front end needs an eighth less time.
    """

    passes = (
        untyped_passes.TranslateByteCode,
        untyped_passes.FixupArgs,
        untyped_passes.IRProcessing,
        untyped_passes.RewriteSemanticConstants,
        untyped_passes.DeadBranchPrune,  # removes code that is only for traces
        untyped_passes.GenericRewrites,
        untyped_passes.RewriteDynamicRaises,
        untyped_passes.ReconstructSSA,
        typed_passes.NopythonTypeInference,
        typed_passes.PreLowerStripPhis,
        typed_passes.IRLegalization,
        typed_passes.AnnotateTypes,
        typed_passes.NativeLowering,
        typed_passes.NoPythonBackend,
    )

    def define_pipelines(self):
        self.state.flags.noalias = self.state.func_id.func in jit.DISJOINT
        manager = compiler.PassManager("kernel")
        for each in self.passes:
            manager.add_pass(each, each.__name__)
        manager.finalize()
        return [manager]


def _remember_calls() -> None:
    """Make Numba find the result type of an operator or a NumPy function only once for the same argument types. Numba
    tries dozens of definitions for each addition, which took a fifth of the front end's time.
    """
    find = types.Function.get_call_type
    found = {}

    def get_call_type(self, context, args, kws):
        key = self, args, tuple(kws.items())
        if key not in found:
            found[key] = find(self, context, args, kws)
        return found[key]

    types.Function.get_call_type = get_call_type


def _index(context, builder, kind, index, size):
    """Convert an index to 64 bits. A negative index does not count from the end."""
    return context.cast(builder, index, kind, types.intp if kind.signed else types.uintp)


def teach_numba() -> None:
    """Declare kernels and intrinsics to Numba, for the functions that call them."""
    intrinsic = {function: getattr(intrinsics, function.__name__) for function in jit.INTRINSICS}
    for call, (function, returns) in jit.SELF_CALLS.items():
        if call not in _taught:
            intrinsic[call] = intrinsics.self_call(function, numba_type(returns))
    context = cpu_target.typing_context
    context.refresh()  # so that Numba knows new intrinsics
    for function, known in intrinsic.items():
        if function not in _taught:
            _taught[function] = known
            context.insert_global(function, context.resolve_value_type(known))
    for function, inlined in jit.KERNELS.items():
        if function not in _taught:
            _taught[function] = _jit(function, forceinline=inlined)
            context.insert_global(function, types.Dispatcher(_taught[function]))


def _jit(function, **options):
    quiet = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "error_model": "numpy"}
    return numba.njit(function, boundscheck=program.BOUNDSCHECK, pipeline_class=_Compiler, **quiet, **options)


def _check_bodies() -> None:
    """Raise a TypeError if a kernel was compiled twice. A literal argument causes this, because it has its own type.
    Only a kernel that is also called with None may have a second body, without the code that needs the argument.
    """
    for function in [function for function, inlined in jit.KERNELS.items() if not inlined]:
        seen = set()
        for arguments in _taught[function].signatures:
            missing = tuple(kind == types.none for kind in arguments)
            if missing in seen:
                raise TypeError(f"{function.__qualname__} is called with arguments of several types")
            seen.add(missing)


def numba_type(kind):
    """Return Numba's name of a type."""
    if kind.dtype is None:
        return types.void
    single = numba.from_dtype(kind.dtype)
    if kind.dimensions:
        return types.Array(single, kind.dimensions, "C")
    return types.UniTuple(single, kind.count) if kind.count else single


def _front_end(exports: list[program.Export], report: Callable[[int, int], None]) -> None:
    """Type and lower the exported functions and everything that they call; `_Piece` collects the results."""
    context = cpu_target.target_context
    context.refresh()
    codegen.JITCPUCodegen._library_class = _Piece
    codegen.JITCPUCodegen.set_env = lambda *arguments: None
    type(context).call_conv = property(_ByValue)
    type(context).create_cpython_wrapper = type(context).create_cfunc_wrapper = lambda *arguments, **named: None
    arrayobj.fix_integer_index = _index
    _remember_calls()
    teach_numba()
    functions = [*jit.KERNELS, *exports]

    reported = -1

    def count() -> None:  # a function counts once, even if it has several bodies; Numba's own functions do not count
        nonlocal reported
        done = sum(bool(_taught[function].overloads) for function in functions)
        if done > reported:
            reported = done
            report(done, len(functions))

    _Piece.on_text = staticmethod(count)
    for export in exports:
        _taught[export] = _jit(export.function)
        cpu_target.typing_context.insert_global(export, types.Dispatcher(_taught[export]))
    for export in exports:
        dispatcher = _taught[export]
        dispatcher.compile(tuple(map(numba_type, export.signature.arguments)))
        [compiled] = dispatcher.overloads.values()
        _Piece.texts.append(_shim(context, compiled.fndesc, export))
    count()
    _check_bodies()
    called = [(function, returns) for function, returns in jit.SELF_CALLS.values() if _taught[function].overloads]
    _Piece.texts.extend(_second_name(context, *kernel) for kernel in called)


def _second_name(context, function, returns) -> str:
    """Define the name under which a kernel calls itself, as a function that calls the kernel."""
    [compiled] = _taught[function].overloads.values()
    description = compiled.fndesc
    numbers = {kind for kind in description.argtypes if isinstance(kind, types.Number | types.Boolean)}
    if description.restype != numba_type(returns) or numbers - {types.int64}:
        raise TypeError(f"the self_call of {function.__qualname__} does not fit its types {compiled.signature}")
    module = context.create_module(f"second.{description.mangled_name}")
    kernel = context.declare_function(module, description)
    second = ir.Function(module, kernel.function_type, intrinsics.second_name(function))
    second.attributes.add("alwaysinline")
    builder = ir.IRBuilder(second.append_basic_block())
    builder.ret(builder.call(kernel, second.args))
    return cgutils.normalize_ir_text(str(module))


def _shim(context, description, export) -> str:
    """Write the C function through which Python calls an exported function, see `calls`."""
    module = context.create_module(f"shim.{export.name}")
    kinds = [_I64.as_pointer() if kind.dimensions or kind.is_record else _I64 for kind in export.signature.arguments]
    returns = description.restype
    if export.signature.returns.count:
        kinds.append(_POINTER)
    is_number = returns != types.none and not export.signature.returns.count
    function = ir.Function(module, ir.FunctionType(_I64 if is_number else ir.VoidType(), kinds), export.name)
    builder = ir.IRBuilder(function.append_basic_block())
    arguments = []
    for kind, wanted, value in zip(export.signature.arguments, description.argtypes, function.args, strict=False):
        if kind.dimensions or kind.is_record:
            places = [builder.gep(value, [ir.Constant(_I64, number)]) for number in range(1 + kind.dimensions)]
            address, *shape = map(builder.load, places)
            value = builder.inttoptr(address, _POINTER if shape else context.get_value_type(wanted))
            value = _array(context, builder, wanted, value, shape) if shape else value
        arguments.append(value)
    callee = context.declare_function(module, description)
    _, result = context.call_conv.call_function(builder, callee, returns, description.argtypes, arguments)
    if is_number:
        builder.ret(context.cast(builder, result, returns, types.int64))
    else:
        if export.signature.returns.count:
            builder.store(result, builder.bitcast(function.args[-1], result.type.as_pointer()))
        builder.ret_void()
    return cgutils.normalize_ir_text(str(module))


def _array(context, builder, kind, address, shape):
    """Build Numba's structure of a contiguous array."""
    size = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    strides = [size]
    for length in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], length))
    array = context.make_array(kind)(context, builder)
    data = builder.bitcast(address, array.data.type)
    arrayobj.populate_array(array, data, shape, strides, size, meminfo=None)
    return array._getvalue()


def _emit(target: Target, exports: list[program.Export]) -> tuple[bytes, dict[str, int], int]:
    """Compile the code that the front end has collected, and link it."""
    whole = llvm.parse_assembly(_RUNTIME + (_TRAP if program.BOUNDSCHECK else ""))
    attributes = rf'\g<0> uwtable "tune-cpu"="{target.tune}"'  # "uwtable": with call frame information
    for text in _Piece.texts:
        whole.link_in(llvm.parse_assembly(re.sub("^define .*", attributes, text, flags=re.MULTILINE)))
    machine = llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu, features=target.features, opt=3, reloc="pic", codemodel="default"
    )
    whole.triple, whole.data_layout = target.triple, str(machine.target_data)
    visible = {export.name for export in exports} | {"memcpy", "memmove", "memset"}
    for value in (*whole.functions, *whole.global_variables):
        if not value.is_declaration and value.name not in visible:
            value.linkage = "internal"
    whole.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = True
    passes = llvm.create_pass_builder(machine, options)
    passes.getModulePassManager().run(whole, passes)
    return link(machine.emit_object(whole))


def build(chosen: program.Program, targets: Iterable[Target], folder: Path, report: Callable[[int, int], None]) -> None:
    """Build an image of a program for each target in a folder, and report the numbers of finished functions and of all
    functions. This changes Numba for the rest of the process, which should then end soon.
    """
    gc.disable()  # there is little garbage, and looking for it takes 7 % of the time
    chosen.declare()
    _front_end(chosen.exports, report)
    # LLVM chooses vectors for the widest numbers in a loop. Where 16-bit numbers are multiplied to 32-bit sums, as in
    # the output of a neural network, that would leave half of each vector empty.
    llvm.set_option("", "-vectorizer-maximize-bandwidth")
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    constants = [(constant.name, constant.kind.dtype, constant.function()) for constant in chosen.constants]
    for target in targets:
        code, places, frames = _emit(target, chosen.exports)
        places["frames"] = frames
        for name, dtype, record in constants:
            code += bytes(-len(code) % dtype.alignment)
            places[name] = len(code)
            code += record.tobytes()
        chosen.write(folder / chosen.file_name(target.name), images.Image(places, code))


def for_this_processor(target: Target) -> Target:
    """Tune a target for this processor. Its code still runs on all other processors of the target."""
    here = llvm.get_host_cpu_name()
    return target if here == "generic" else replace(target, tune=here)  # "generic": LLVM does not know the processor


def main() -> None:
    """Build the images that the command line names, and print the progress."""
    parser = argparse.ArgumentParser()
    parser.add_argument("module", help="module that creates the Program, such as package.module")
    parser.add_argument("name", help="variable of that module to which the Program is assigned")
    parser.add_argument("folder", type=Path, help="folder that receives the images")
    parser.add_argument("targets", nargs="+", choices=TARGETS, help="processors to compile for, an image for each")
    parser.add_argument("--tune", action="store_true", help="tune the code for this processor")
    chosen = parser.parse_args()
    targets = [TARGETS[name] for name in chosen.targets]
    if chosen.tune:
        targets = [for_this_processor(target) for target in targets]
    build(getattr(importlib.import_module(chosen.module), chosen.name), targets, chosen.folder, _show)


def _show(done: int, functions: int) -> None:
    """Print the progress in about twenty steps."""
    if done % (functions // 20 + 1) == 0:
        print(f"compiling {done}/{functions}", flush=True)
