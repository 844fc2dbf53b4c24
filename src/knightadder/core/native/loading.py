"""Loading: the compiled core comes from an image that was installed, or else is built and kept for the next start."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import importlib.util
import mmap
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from . import images, jit
from .signatures import Kind

BOUNDSCHECK = os.environ.get("KNIGHTADDER_BOUNDSCHECK") == "1"
INSTALLED = Path(__file__).parent  # where images that were installed lie
KEEP_UNUSED_DAYS = 14
_PREFIX = "core-"

_lock = threading.Lock()
_places: dict[str, int] = {}  # addresses of the entry points and of the tables, once they are loaded
_loaded: dict[Path, np.ndarray] = {}  # the memory that they lie in, by the file that it comes from


class CoreError(RuntimeError):
    """There is no compiled core, and none can be built."""


def load(report: Callable[[str], None] = lambda step: None) -> None:
    """Load the compiled core; build it first if no image fits.

    Parameters
    ----------
    report : callable
        Receives a line such as ``compiling 31/224`` whenever there is progress; not called if an image fits.

    Raises
    ------
    CoreError
        If no image fits, and none can be built.
    """
    if jit.INTERPRETED:
        return
    with _lock:
        if not _places and not _load_one_of(INSTALLED, images.host_targets()):
            _load_from_cache(report)
        for entry in jit.ENTRIES:
            if entry.run == entry.load_and_run:
                entry.run = _bind(entry, _places[entry.name])


def loaded_from() -> Path | None:
    """Give the image that `load` has loaded; None if the core is interpreted, or nothing is loaded yet."""
    return next(iter(_loaded), None)


def address_of(name: str) -> int | None:
    """Give the address of one of the `Image.places`; None if the core is interpreted, or nothing is loaded yet."""
    return _places.get(name)


def cache_folder() -> Path:
    """Give the folder for images that were built here: ``$KNIGHTADDER_CACHE``, else the user's folder for caches."""
    import platformdirs

    named = os.environ.get("KNIGHTADDER_CACHE")
    return Path(named).expanduser() if named else platformdirs.user_cache_path("knightadder", appauthor=False)


def cached_image(folder: Path) -> Path:
    """Give the place in a folder such as `cache_folder` where an image that was built from these sources belongs."""
    name = hashlib.sha256(f"{images.digest()} {BOUNDSCHECK}".encode()).hexdigest()[:24]
    return folder / (_PREFIX + name) / images.file_name(images.host_targets()[0])


def cached() -> list[Path]:
    """List the folders of compiled code that this and other versions have built."""
    return sorted(folder for folder in cache_folder().glob(_PREFIX + "[0-9a-f]" * 24) if folder.is_dir())


def last_used(folder: Path) -> float:
    """Give the time at which an engine last used a folder of `cached`, in seconds since 1970."""
    return max((file.stat().st_mtime for file in folder.iterdir()), default=0.0)


def _load_from_cache(report: Callable[[str], None]) -> None:
    """Load the image that was built from these sources; build it first if need be."""
    targets = images.host_targets()[:1]
    if not targets:
        raise CoreError("there is no compiled core for a processor of this kind")
    kept = cached_image(cache_folder())
    if _load_one_of(kept.parent, targets):
        with contextlib.suppress(OSError):
            os.utime(kept)
        return
    if importlib.util.find_spec("numba") is None:
        raise CoreError("the compiled core is missing, damaged or of another version: reinstall knightadder")
    import tempfile

    import filelock

    with contextlib.ExitStack() as stack:
        folder = kept.parent
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = filelock.FileLock(folder / "lock")
            try:
                stack.enter_context(lock.acquire(timeout=0))
            except filelock.Timeout:
                report("waiting for another engine that is compiling")
                stack.enter_context(lock)
        except (OSError, NotImplementedError):  # nothing can be kept there, or it cannot be locked
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="knightadder-")))
        if not _load_one_of(folder, targets):
            _build(folder, targets[0], report)
            if not _load_one_of(folder, targets):
                raise CoreError("the compiled core does not fit its sources: they changed meanwhile")
            _sweep()


def _load_one_of(folder: Path, targets: list[str]) -> bool:
    """Load the first image in a folder that fits, and say whether there is one."""
    for target in targets:
        with contextlib.suppress(OSError, ValueError):
            with (folder / images.file_name(target)).open("rb") as file:
                block, address = _map(file)
            image, start = images.read(block.data)
            if images.fits(image, target, BOUNDSCHECK):
                _loaded[folder / images.file_name(target)] = block
                _places.update((name, address + start + place) for name, place in image.places.items())
                return True
    return False


def _map(file: BinaryIO) -> tuple[np.ndarray, int]:
    """Map a file as executable memory; give its bytes, and their address."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # such as a file system without execution
            return _address(mmap.mmap(file.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC))
    content = file.read()
    size = len(content)
    if sys.platform == "win32":
        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        kernel.VirtualAlloc.restype = ctypes.c_void_p
        kernel.VirtualAlloc.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint32, ctypes.c_uint32
        commit_and_reserve, read_write_execute = 0x3000, 0x40
        address = kernel.VirtualAlloc(None, size, commit_and_reserve, read_write_execute)
        if not address:
            raise ctypes.WinError(ctypes.get_last_error())
        ctypes.memmove(address, content, size)
        return np.frombuffer((ctypes.c_char * size).from_address(address), np.uint8), address
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    protection = mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
    if sys.platform != "darwin":
        block = mmap.mmap(-1, size, flags, protection)
        block.write(content)
        return _address(block)
    # macOS lets each thread either write to such memory or run it (MAP_JIT, "Porting just-in-time compilers to Apple
    # silicon"); on Intel processors the switch does nothing.
    map_jit = 0x800
    block = mmap.mmap(-1, size, flags | map_jit, protection)
    system = ctypes.CDLL(None)
    system.pthread_jit_write_protect_np(0)
    block.write(content)
    system.pthread_jit_write_protect_np(1)
    array, address = _address(block)
    system.sys_icache_invalidate(ctypes.c_void_p(address), ctypes.c_size_t(size))
    return array, address


def _address(block: mmap.mmap) -> tuple[np.ndarray, int]:
    array = np.frombuffer(block, np.uint8)
    return array, array.ctypes.data


def _build(folder: Path, target: str, report: Callable[[str], None]) -> None:
    """Build an image in a process of its own, which leaves neither Numba nor its memory behind."""
    import subprocess

    report("compiling")
    command = [sys.executable, "-P", "-m", f"{__package__}.builder", "--tune", str(folder), target]
    packages = filter(None, (str(images.CORE.parents[1]), os.environ.get("PYTHONPATH")))
    with subprocess.Popen(
        command + ["--boundscheck"] * BOUNDSCHECK,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(packages)},
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),  # on Windows
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        try:
            for line in process.stdout:
                report(f"compiling {line.strip()}")
            trace = process.stderr.read().splitlines()
        except BaseException:
            process.kill()
            raise
    if process.returncode != 0:
        raise CoreError(f"the core cannot be compiled: {trace[-1] if trace else process.returncode}")


def _sweep() -> None:
    """Remove what nobody has used for `KEEP_UNUSED_DAYS` days."""
    import shutil
    import time

    for folder in cached():
        with contextlib.suppress(OSError):
            if last_used(folder) < time.time() - KEEP_UNUSED_DAYS * 24 * 3600:
                shutil.rmtree(folder)


def _bind(entry: jit.Entry, address: int) -> Callable[..., Any]:
    """Make the function that calls an entry point with the addresses of its records and arrays."""
    kinds, values, names = [], [], []
    for number, kind in enumerate(entry.signature.arguments):
        name = f"a{number}"
        names.append(name)
        if kind.dimensions:
            kinds += [ctypes.c_void_p] + [ctypes.c_int64] * kind.dimensions
            values.append(f"place({name}, k{number}), *{name}.shape")
        elif kind.is_record:
            kinds.append(ctypes.c_void_p)
            values.append(f"place({name}, k{number})")
        else:
            kinds.append(np.ctypeslib.as_ctypes_type(kind.dtype))
            values.append(name)
    returns = entry.signature.returns
    body = f"return function({', '.join(values)})"
    if returns.count:
        kinds.append(ctypes.c_void_p)
        body = f"pair = results(); function({', '.join([*values, 'pair'])}); return tuple(pair)"
    result = None
    if returns.dtype is not None and not returns.count:
        result = ctypes.c_uint64 if returns.dtype == np.uint64 else ctypes.c_int64
    scope: dict[str, Any] = {f"k{number}": kind for number, kind in enumerate(entry.signature.arguments)} | {
        "place": _place,
        "function": ctypes.CFUNCTYPE(result, *kinds)(address),
        "results": ctypes.c_int64 * returns.count,
    }
    exec(f"def call({', '.join(names)}): {body}", scope)
    call: Callable[..., Any] = scope["call"]
    return call


def _place(value: np.ndarray | np.record, kind: Kind) -> int:
    """Give the address of a record or an array, after a check of its type."""
    array = np.asarray(value)
    if array.dtype != kind.dtype or array.ndim != kind.dimensions or not array.flags.c_contiguous:
        raise TypeError(f"an array of {array.dtype} with {array.ndim} dimensions where {kind} is wanted")
    return array.ctypes.data
