"""Loading: the compiled core comes from an image that was installed, or else is built and kept for the next start."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np

from . import images, jit
from .building import CoreError, build
from .calls import bind
from .memory import executable

BOUNDSCHECK = os.environ.get("KNIGHTADDER_BOUNDSCHECK") == "1"
INSTALLED = Path(__file__).parent  # where images that were installed lie
KEEP_UNUSED_DAYS = 14
_PREFIX = "core-"

_lock = threading.Lock()
_places: dict[str, int] = {}  # addresses of the entry points and of the tables, once they are loaded
_loaded: dict[Path, np.ndarray] = {}  # the memory that they lie in, by the file that it comes from


def load(report: Callable[[str], None] = lambda step: None) -> None:
    """Load the compiled core; build it first if no image fits.

    Parameters
    ----------
    report : callable
        Receives a line such as ``compiling 31/334`` whenever there is progress; not called if an image fits.

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
                entry.run = bind(entry.signature, _places[entry.name])


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
            options = ["--tune"] + ["--boundscheck"] * BOUNDSCHECK
            build(images.CORE.parents[1], folder, targets, report, *options)
            if not _load_one_of(folder, targets):
                raise CoreError("the compiled core does not fit its sources: they changed meanwhile")
            _sweep()


def _load_one_of(folder: Path, targets: list[str]) -> bool:
    """Load the first image in a folder that fits, and say whether there is one."""
    for target in targets:
        image = images.find(folder, target, BOUNDSCHECK)
        if image is not None:
            code = executable(image.code)
            _loaded[folder / images.file_name(target)] = code
            _places.update((name, code.ctypes.data + place) for name, place in image.places.items())
            return True
    return False


def _sweep() -> None:
    """Remove what nobody has used for `KEEP_UNUSED_DAYS` days."""
    import shutil
    import time

    for folder in cached():
        with contextlib.suppress(OSError):
            if last_used(folder) < time.time() - KEEP_UNUSED_DAYS * 24 * 3600:
                shutil.rmtree(folder)
