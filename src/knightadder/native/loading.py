"""Loading: the compiled core comes from the image beside the sources, which is built anew if it does not fit them."""

import contextlib
import importlib.util
import os
import threading
from collections.abc import Callable
from pathlib import Path

from . import images
from .building import CoreError, build
from .machine_code import executable, tell_unwinder

INTERPRETED = os.environ.get("KNIGHTADDER_INTERPRET") == "1"
BOUNDSCHECK = os.environ.get("KNIGHTADDER_BOUNDSCHECK") == "1"
FOLDER = Path(__file__).parents[1] / "core"  # where the images lie
PATIENCE = 300.0  # seconds to wait for another engine that is compiling: more than that takes on a slow machine

places: dict[str, int] = {}  # the address of each entry point, and of the tables; empty before `load`
_lock = threading.Lock()


def load(report: Callable[[str], None] = lambda step: None) -> None:
    """Load the compiled core; build it first if its image does not fit.

    Parameters
    ----------
    report : callable
        Receives a line such as ``compiling 31/334`` whenever there is progress; not called if the image fits.

    Raises
    ------
    CoreError
        If the image does not fit, and none can be built.
    """
    with _lock:
        if not INTERPRETED and not places:
            image = images.read(image_file()) or _build(report)
            code = executable(image.code)
            tell_unwinder(code + image.places["frames"])
            places.update((name, code + start) for name, start in image.places.items())


def image_file() -> Path:
    """Give the file of this machine's image; CoreError if there is no compiled core for its processor."""
    return FOLDER / images.file_name(images.host_target(), BOUNDSCHECK)


def _build(report: Callable[[str], None]) -> images.Image:
    """Build the image, unless another engine does so meanwhile, and keep it for the next start."""
    if importlib.util.find_spec("numba") is None:
        raise CoreError("the compiled core is missing, damaged or of another version: reinstall knightadder")
    import tempfile

    import filelock

    file = image_file()
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError, NotImplementedError):  # no file can be made there, or it cannot be locked
            lock = filelock.FileLock(f"{file}.lock")
            try:
                stack.enter_context(lock.acquire(timeout=0))
            except filelock.Timeout:
                report("waiting for another engine that is compiling")
                stack.enter_context(lock.acquire(timeout=PATIENCE))  # it may never end; its Timeout is an OSError
        image = images.read(file)
        if image is None:
            with tempfile.TemporaryDirectory(prefix="knightadder-") as folder:
                build(Path(folder), [images.host_target()], report, "--tune", *["--boundscheck"] * BOUNDSCHECK)
                image = images.read(Path(folder, file.name))
            if image is None:
                raise CoreError("the compiled core does not fit its sources: they changed meanwhile")
            with contextlib.suppress(OSError):  # then the next start builds it again
                images.write(file, image)
    return image
