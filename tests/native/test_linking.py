"""Linking: the code of small modules runs, or refers to the right places, after it was linked."""

from __future__ import annotations

import ctypes
import itertools
import mmap
import platform
import struct
import sys
from types import SimpleNamespace

import pytest

pytest.importorskip("llvmlite")

import llvmlite.binding as llvm

from knightadder.native.linking import LinkError, link
from knightadder.native.machine_code import executable, tell_unwinder

# A function with a table of constants, a jump table, a vector constant and calls of another function.
SOURCE = """
@primes = internal constant [4 x i64] [i64 2, i64 3, i64 5, i64 7]

define internal i64 @prime(i64 %n) noinline {
  %place = getelementptr [4 x i64], ptr @primes, i64 0, i64 %n
  %prime = load i64, ptr %place
  ret i64 %prime
}

define i64 @compute(i64 %n) {
  switch i64 %n, label %other [ i64 0, label %a  i64 1, label %b  i64 2, label %c  i64 3, label %d  i64 4, label %e ]
a:
  %p = call i64 @prime(i64 2)
  ret i64 %p
b:
  %q = call i64 @prime(i64 3)
  %s = mul i64 %q, 10
  ret i64 %s
c:
  ret i64 -1
d:
  %f = sitofp i64 %n to double
  %g = fmul double %f, 1.5
  %h = fptosi double %g to i64
  ret i64 %h
e:
  ret i64 77
other:
  %and = and i64 %n, 3
  %r = call i64 @prime(i64 %and)
  ret i64 %r
}

define i64 @answer() {
  ret i64 42
}
"""


def compile_for(triple: str, source: str = SOURCE) -> bytes:
    """Compile a module of LLVM's language into an ELF object."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    module = llvm.parse_assembly(source)
    module.triple = triple
    machine = llvm.Target.from_triple(triple).create_target_machine(opt=2, reloc="pic", codemodel="default")
    module.data_layout = str(machine.target_data)
    return machine.emit_object(module)


X86_64, AARCH64 = "x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"
NATIVE = {"x86_64": X86_64, "aarch64": AARCH64}


@pytest.mark.skipif(platform.machine() != "x86_64" or platform.system() != "Linux", reason="other machine code")
def test_linked_code_runs_wherever_it_lies() -> None:
    code, functions, _ = link(compile_for(X86_64))
    assert set(functions) == {"compute", "answer"}
    for offset in (0, 4096, 5 * 4096):
        memory = mmap.mmap(-1, offset + len(code), prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        memory[offset:] = code
        start = ctypes.addressof(ctypes.c_char.from_buffer(memory)) + offset
        compute = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(start + functions["compute"])
        assert [compute(n) for n in range(9)] == [5, 70, -1, 4, 77, 3, 5, 7, 2]
        assert ctypes.CFUNCTYPE(ctypes.c_int64)(start + functions["answer"])() == 42


CALLER = """
define i64 @call(ptr %function) {
  %result = call i64 %function()
  %more = add i64 %result, 1
  ret i64 %more
}
"""


@pytest.mark.skipif(
    platform.machine() not in NATIVE or platform.libc_ver()[0] != "glibc", reason="other machine code, or no backtrace"
)
def test_a_backtrace_goes_through_linked_code_to_its_callers() -> None:
    code, functions, frames = link(compile_for(NATIVE[platform.machine()], CALLER))
    start = executable(code)
    addresses = (ctypes.c_size_t * 100)()
    found: list[int] = []

    @ctypes.CFUNCTYPE(ctypes.c_int64)
    def look() -> int:
        found[:] = addresses[: ctypes.CDLL(None).backtrace(addresses, 100)]
        return 41

    tell_unwinder(start + frames)
    assert ctypes.CFUNCTYPE(ctypes.c_int64, type(look))(start + functions["call"])(look) == 42
    inside = [start <= address < start + len(code) for address in found]
    assert inside.count(True) == 1
    assert not inside[-1]


@pytest.mark.parametrize("triple", [X86_64, AARCH64])
def test_the_unwinder_of_macos_is_given_one_function_after_the_other(
    monkeypatch: pytest.MonkeyPatch, triple: str
) -> None:
    code, _, frames = link(compile_for(triple))
    memory = ctypes.create_string_buffer(code)
    start = ctypes.addressof(memory)
    given: list[int] = []
    system = SimpleNamespace(__register_frame=lambda place: given.append(place.value))
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(ctypes, "CDLL", lambda name: system)
    tell_unwinder(start + frames)
    described = [place - start + 8 + struct.unpack_from("<i", code, place - start + 8)[0] for place in given]
    assert len(set(described)) == 3  # `prime`, `compute` and `answer`
    assert set(link(compile_for(triple))[1].values()) <= set(described)


def branch_target(code: bytes, place: int) -> int:
    """Give where the branch with link (BL) at a place of AArch64 code goes."""
    [word] = struct.unpack_from("<I", code, place)
    assert word >> 26 == 0b100101
    distance = word & 0x3FFFFFF
    return place + 4 * (distance - (1 << 26) * (distance >> 25))


def test_aarch64_code_finds_its_functions_and_constants() -> None:
    code, functions, _ = link(compile_for(AARCH64))
    assert set(functions) == {"compute", "answer"}
    words = [struct.unpack_from("<I", code, place)[0] for place in range(0, len(code) - 7, 4)]
    calls = {branch_target(code, 4 * i) for i, word in enumerate(words) if word >> 26 == 0b100101}
    loads = set()
    for i, (first, second) in enumerate(itertools.pairwise(words)):
        if first >> 31 == 1 and first >> 24 & 0x1F == 0b10000 and second >> 22 == 0b1001000100:  # ADRP, ADD
            pages = (first >> 5 & 0x7FFFF) << 2 | first >> 29 & 3
            loads.add(((4 * i >> 12) + pages << 12) + (second >> 10 & 0xFFF))
    assert len(calls) == 1  # all of `prime`
    assert min(calls) not in functions.values()
    assert code.index(struct.pack("<4q", 2, 3, 5, 7)) in loads


@pytest.mark.parametrize("triple", [X86_64, AARCH64])
def test_what_is_not_defined_is_refused(triple: str) -> None:
    source = "declare i64 @strange(i64)\ndefine i64 @f(i64 %n) {\n %m = call i64 @strange(i64 %n)\n ret i64 %m\n}"
    with pytest.raises(LinkError, match="strange is not defined"):
        link(compile_for(triple, source))


def test_writable_data_is_refused() -> None:
    source = "@n = global i64 5\ndefine i64 @f() {\n %m = load i64, ptr @n\n ret i64 %m\n}"
    with pytest.raises(LinkError, match=r"\.data is writable"):
        link(compile_for(X86_64, source))
