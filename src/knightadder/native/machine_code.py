"""Memory from which machine code can run, and its registration for crash reports."""

import contextlib
import ctypes
import mmap
import sys


def executable(code: bytes) -> int:
    """Copy self-contained machine code for this processor to executable memory; return the address, which begins a
    page. The memory is never freed, because daemon threads may still run the code when Python ends. OSError if the
    system refuses.
    """
    # The memory is first writable, then executable, but never both at once, which some systems refuse. LLVM does the
    # same for code that it makes at run time (llvm/lib/Support/Unix/Memory.inc and Windows/Memory.inc), also for Numba.
    return _executable_on_windows(code) if sys.platform == "win32" else _executable_on_posix(code)


def _executable_on_windows(code: bytes) -> int:
    assert sys.platform == "win32"
    kernel = ctypes.WinDLL("kernel32", use_last_error=True)
    size = ctypes.c_size_t(len(code))
    kernel.VirtualAlloc.restype = kernel.GetCurrentProcess.restype = ctypes.c_void_p
    commit_and_reserve, read_write, execute_read = 0x3000, 0x04, 0x20
    address = kernel.VirtualAlloc(None, size, commit_and_reserve, read_write)
    if not address:
        raise ctypes.WinError(ctypes.get_last_error())
    place, before = ctypes.c_void_p(address), ctypes.c_uint32()
    ctypes.memmove(place, code, len(code))
    if not kernel.VirtualProtect(place, size, execute_read, ctypes.byref(before)):
        raise ctypes.WinError(ctypes.get_last_error())
    kernel.FlushInstructionCache(ctypes.c_void_p(kernel.GetCurrentProcess()), place, size)
    return int(address)


def _executable_on_posix(code: bytes) -> int:
    assert sys.platform != "win32"
    pages = mmap.mmap(-1, len(code), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    pages.write(code)
    address = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    place, size = ctypes.c_void_p(address), ctypes.c_size_t(len(code))
    system = ctypes.CDLL(None, use_errno=True)
    if system.mprotect(place, size, mmap.PROT_READ | mmap.PROT_EXEC):
        raise OSError(ctypes.get_errno(), "the system does not allow new machine code to run")
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(pages))  # so that Python never unmaps them
    if sys.platform == "darwin":  # Linux does this by itself
        system.sys_icache_invalidate(place, size)
    return address


def tell_unwinder(frames: int) -> None:
    """Tell the system's unwinder, if there is one, how to find the callers of machine code.

    Crash reports by the C library's ``backtrace``, such as those of `faulthandler` since Python 3.14, end at the first
    function unknown to the unwinder. `frames` is the address of call frame information in the form of ``.eh_frame``.
    Windows needs tables in a different form, which LLVM does not make here.
    """
    with contextlib.suppress(OSError, AttributeError):  # the library or the function does not exist
        if sys.platform == "darwin":  # LLVM's unwinder takes one function at a time
            register = ctypes.CDLL(None).__register_frame
            while length := ctypes.c_uint32.from_address(frames).value:
                if ctypes.c_uint32.from_address(frames + 4).value:  # 0 is the common part of functions (CIE)
                    register(ctypes.c_void_p(frames))
                frames += 4 + length
        elif sys.platform != "win32":  # GCC's unwinder takes all functions at once
            ctypes.CDLL("libgcc_s.so.1").__register_frame(ctypes.c_void_p(frames))
