"""The number of processors that can share the work, and their instructions."""

import ctypes
import os
import platform
import sys
import sysconfig
from functools import cache

from .building import ImageError
from .machine_code import executable

# Machine code without arguments, so that it suits all calling conventions. The low half of its result contains the
# CPUID features of leaf 1, ECX. The high half contains the features of leaf 7, EBX, or 0 if the system does not save
# the AVX registers. Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, CPUID and XGETBV.
_FEATURES = bytes.fromhex(
    "53 b8 01 00 00 00 0f a2"  # push rbx; mov eax, 1; cpuid
    "41 89 c8 31 c0 0f ba e1 1b 73 17"  # mov r8d, ecx; xor eax, eax; bt ecx, 27 (OSXSAVE); jnc end
    "31 c9 0f 01 d0 83 e0 06 3c 06"  # xor ecx, ecx; xgetbv; and eax, 6; cmp al, 6
    "b8 00 00 00 00 75 06"  # mov eax, 0; jne end
    "b0 07 0f a2 89 d8"  # mov al, 7; cpuid (ecx is 0); mov eax, ebx
    "48 c1 e0 20 4c 09 c0 5b c3"  # end: shl rax, 32; or rax, r8; pop rbx; ret
)
_LEAF_1, _LEAF_7 = 0, 32  # offsets of each leaf's bits in the result
# The same for processors of level 3: the low half contains the registers that the system saves (XCR0), and the high
# half the features of leaf 7, ECX.
_MORE_FEATURES = bytes.fromhex(
    "53 31 c9 0f 01 d0 41 89 c0"  # push rbx; xor ecx, ecx; xgetbv; mov r8d, eax
    "b8 07 00 00 00 0f a2 89 c8"  # mov eax, 7; cpuid (ecx is 0); mov eax, ecx
    "48 c1 e0 20 4c 09 c0 5b c3"  # shl rax, 32; or rax, r8; pop rbx; ret
)
_V2 = 1 << _LEAF_1 + 20 | 1 << _LEAF_1 + 23  # SSE4.2 and POPCNT: every such processor has the rest of v2
_V3 = 1 << _LEAF_1 + 12 | 1 << _LEAF_7 + 5 | 1 << _LEAF_7 + 3 | 1 << _LEAF_7 + 8  # FMA, AVX2, BMI1, BMI2: implies v3
_V4 = sum(1 << _LEAF_7 + bit for bit in (16, 17, 28, 30, 31))  # AVX-512 F, DQ, CD, BW and VL
_V4_STATE = 0xE6 | 1 << 32 + 6  # the system saves the registers of AVX-512; VBMI2


def processors() -> int:
    """Return the number of processors that this process may use, which can be fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def x86_64_level() -> int:
    """Return the level of x86-64 that this processor has, from 1 to 4, as the System V ABI defines it.

    Level 4 also requires VBMI2, which Intel's processors have since Ice Lake, and AMD's since Zen 4. Older processors
    with AVX-512 lower their clock for vectors of 512 bits.
    """
    has = _call(_FEATURES)
    level = sum(has & each == each for each in (0, _V2, _V2 | _V3))
    return 4 if level == 3 and has & _V4 == _V4 and _call(_MORE_FEATURES) & _V4_STATE == _V4_STATE else level


def _call(code: bytes) -> int:
    result: int = ctypes.CFUNCTYPE(ctypes.c_uint64)(executable(code))()
    return result


def host_machine() -> str:
    """Return the kind of processor that this Python was built for, in lower case. On Windows for ARM, this may be an
    emulated Python for x86-64, which `platform.machine` does not show.
    """
    name = sysconfig.get_platform().rpartition("-")[2] if sys.platform == "win32" else platform.machine()
    return name.lower()


def host_target() -> str:
    """Return the name of the best of `builder.TARGETS` that this machine can run; ImageError if there is none."""
    machine = host_machine()
    if machine in ("aarch64", "arm64") and sys.platform != "win32":
        return "aarch64"
    if machine in ("x86_64", "amd64"):
        level = x86_64_level()
        if level < 2:
            raise ImageError("this processor is not supported, because it lacks SSE4.2 or POPCNT")
        return f"{'windows-' if sys.platform == 'win32' else ''}x86-64-v{level}"
    raise ImageError("this kind of processor is not supported")
