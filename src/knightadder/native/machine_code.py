"""Memory from which machine code can run, and what reports of crashes need to know of it."""

import contextlib
import ctypes
import mmap
import sys


def executable(code: bytes) -> int:
    """Copy machine code to memory from which it can run, for as long as the process lives.

    Nothing gives that memory back: when Python ends, daemon threads may still run the code.

    Parameters
    ----------
    code : bytes
        What refers to nothing outside, for the processor at hand.

    Returns
    -------
    int
        The address of the memory, where a page begins.

    Raises
    ------
    OSError
        If the system does not allow it.
    """
    # First to be written, then to be run: never both at once, which some systems refuse. LLVM does the same for code
    # that it makes at run time (llvm/lib/Support/Unix/Memory.inc and Windows/Memory.inc), and so works Numba.
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
        raise OSError(ctypes.get_errno(), "the system lets no memory be run")
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(pages))  # so that Python never unmaps them
    if sys.platform == "darwin":  # Linux does this by itself
        system.sys_icache_invalidate(place, size)
    return address


def tell_unwinder(frames: int) -> None:
    """Tell the system's unwinder how to go through machine code to its callers, where the system has such an unwinder.

    Reports of crashes by ``backtrace`` of the C library, such as those of `faulthandler` since Python 3.14, end at the
    first function that the unwinder does not know. Windows wants tables of another form, which LLVM does not make here.

    Parameters
    ----------
    frames : int
        The address of call frame information in the form of ``.eh_frame``, which ends with a length of zero.
    """
    with contextlib.suppress(OSError, AttributeError):  # there is no such library, or no such function in it
        if sys.platform == "darwin":  # LLVM's unwinder takes one function at a time
            register = ctypes.CDLL(None).__register_frame
            while length := ctypes.c_uint32.from_address(frames).value:
                if ctypes.c_uint32.from_address(frames + 4).value:  # 0 is what functions have in common (CIE)
                    register(ctypes.c_void_p(frames))
                frames += 4 + length
        elif sys.platform != "win32":  # that of GCC takes all
            ctypes.CDLL("libgcc_s.so.1").__register_frame(ctypes.c_void_p(frames))
