"""Programs: functions that are compiled together into one image, which each start loads.

A program is a Python package. Its image is in the package's folder. If no image there matches the sources, a new one is
built, which needs Numba.

With ``KNIGHTADDER_INTERPRET=1`` nothing is loaded: all functions run as plain Python, for line coverage and debuggers.
With ``KNIGHTADDER_BOUNDSCHECK=1`` the compiled code checks each index.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import os
import pkgutil
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import images
from .building import ImageError, run_builder
from .machine_code import executable, tell_unwinder
from .processors import host_target

if TYPE_CHECKING:
    import numpy as np

    from .signatures import Signature, ValueType

INTERPRETED = os.environ.get("KNIGHTADDER_INTERPRET") == "1"
BOUNDSCHECK = os.environ.get("KNIGHTADDER_BOUNDSCHECK") == "1"
PATIENCE = 300.0  # seconds to wait while another process compiles: enough even for a slow machine


class Program:
    """Functions that are compiled together into one image.

    `exports` are the functions that Python calls, and `constants` the values that are computed when an image is built.
    `places` maps each of them by name to its address; it is empty before `load`.

    Parameters
    ----------
    module : str
        `__name__` of the module that has this object as a global variable. The builder, a separate process, imports it.
        The module's package is the program, and the package's folder contains the images.
    name : str
        The name of that variable. The images' names begin with it, and messages say "the compiled NAME".
    modules : sequence of str
        The modules whose import declares all exported functions and constants. A package stands for all its modules.
    data : sequence of str
        Paths, in the package, of source files whose numbers are not compiled into the code. An image stays valid if
        only these numbers change.
    """

    def __init__(self, module: str, name: str, modules: Sequence[str], data: Sequence[str] = ()) -> None:
        spec = sys.modules[module].__spec__
        assert spec is not None and spec.parent, "a program is a package"
        self.module, self.name, self.package = module, name, spec.parent
        self.folder = self._sources = Path(sys.modules[self.package].__path__[0])
        self.exports: list[Export] = []
        self.constants: list[Constant] = []
        self.places: dict[str, int] = {}
        self._modules, self._data = modules, data
        self._lock = threading.RLock()
        if hasattr(os, "register_at_fork"):  # a fork waits while another thread is loading the image
            release = self._lock.release
            os.register_at_fork(before=self._lock.acquire, after_in_parent=release, after_in_child=release)

    def exported(self, signature: Signature) -> Callable[[Callable[..., Any]], Export]:
        """Mark a function that Python calls."""

        def decorate(function: Callable[..., Any]) -> Export:
            self.exports.append(Export(self, function, signature))
            return self.exports[-1]

        return decorate

    def constant(self, kind: ValueType) -> Callable[[Callable[[], np.record]], Constant]:
        """Mark a function without arguments. Its result, a record of this type, becomes a part of each image."""

        def decorate(function: Callable[[], np.record]) -> Constant:
            self.constants.append(Constant(self, function, kind))
            return self.constants[-1]

        return decorate

    def load(self, report: Callable[[str], None] = lambda step: None) -> None:
        """Load the program's image. If no image matches the sources, build it first; ImageError if that fails. `report`
        receives a line such as ``compiling 31/334`` after each step of building.
        """
        with self._lock:
            if not INTERPRETED and not self.places:
                image = self.read(self.image_file()) or self._build_once(report)
                code = executable(image.code)
                tell_unwinder(code + image.places["frames"])
                self.places.update((name, code + start) for name, start in image.places.items())

    def image_file(self) -> Path:
        """Return the file of this machine's image; ImageError if there is no machine code for its processor."""
        return self.folder / self.file_name(host_target())

    def file_name(self, target: str) -> str:
        """Return the name of the image for one of `builder.TARGETS`."""
        return f"{self.name}-{target}{'-checked' * BOUNDSCHECK}.image"

    @functools.cached_property
    def digest(self) -> str:
        """The hash of the sources of the program and of its compiler."""
        return images.digest([self._sources, Path(__file__).parent], self._data)

    def read(self, file: Path) -> images.Image | None:
        """Read an image of this program; None if there is no matching image."""
        return images.read(file, self.digest)

    def write(self, file: Path, image: images.Image) -> None:
        """Write an image of this program, as `images.write` does."""
        images.write(file, image, self.digest)

    def build(self, folder: Path, targets: Sequence[str], report: Callable[[str], None], *options: str) -> None:
        """Build images of the program from its sources for some of `builder.TARGETS`, in a separate process.

        `report` receives a line such as ``compiling 31/334`` after each step. The option ``--tune`` tunes the code for
        this processor; it still runs on all processors of the target. An `ImageError` is raised if the program cannot
        be compiled; its cause has the whole output of the builder.
        """
        root = self._sources.parents[self.package.count(".")]
        try:
            run_builder([str(root), self.module, self.name, str(folder), *targets, *options], report)
        except ImageError as error:
            raise ImageError(f"the {self.name} cannot be compiled: {error}") from error.__cause__

    def declare(self) -> None:
        """Import all modules that declare exported functions and constants."""
        for name in self._modules:
            module = importlib.import_module(name)
            for inner in pkgutil.iter_modules(getattr(module, "__path__", ()), f"{name}."):
                importlib.import_module(inner.name)

    def _build_once(self, report: Callable[[str], None]) -> images.Image:
        """Build the image, unless another process is already building it, and keep it for the next start."""
        if importlib.util.find_spec("numba") is None:
            distribution = self.package.partition(".")[0]
            raise ImageError(
                f"the compiled {self.name} is missing, damaged or from a different version: reinstall {distribution}"
            )
        import tempfile

        import filelock

        file = self.image_file()
        with contextlib.ExitStack() as stack:
            # The folder is not writable, or files cannot be locked.
            with contextlib.suppress(OSError, NotImplementedError):
                lock = filelock.FileLock(f"{file}.lock")
                try:
                    stack.enter_context(lock.acquire(timeout=0))
                except filelock.Timeout:
                    report("waiting for another process that is compiling")
                    # Raises Timeout, an OSError, if that process never ends.
                    stack.enter_context(lock.acquire(timeout=PATIENCE))
            image = self.read(file)
            if image is None:
                with tempfile.TemporaryDirectory(prefix=f"{self.name}-") as folder:
                    self.build(Path(folder), [host_target()], report, "--tune")
                    image = self.read(Path(folder, file.name))
                if image is None:
                    raise ImageError(
                        f"the compiled {self.name} does not match its sources: they changed during the compilation"
                    )
                with contextlib.suppress(OSError):  # the next start will then build it again
                    self.write(file, image)
        return image


class Export:
    """A function of a program that Python calls. `run` is the compiled function; before the first call, it is a
    function that loads the compiled one.
    """

    def __init__(self, program: Program, function: Callable[..., Any], signature: Signature) -> None:
        functools.update_wrapper(self, function)
        self.function, self.signature = function, signature
        self.name = f"{function.__module__}.{function.__qualname__}"
        self._program = program
        self.run = function if INTERPRETED else self.load_and_run

    def __call__(self, *arguments: Any) -> Any:
        """Call the compiled function."""
        return self.run(*arguments)

    def load_and_run(self, *arguments: Any) -> Any:
        """Load the program's image, and call the function in it."""
        from .calls import bind  # imported late, because it imports NumPy, which loading an image does not need

        self._program.load()
        self.run = bind(self.signature, self._program.places[self.name])
        return self.run(*arguments)


class Constant:
    """A record of type `kind` that `function` computes when an image is built; `name` is its name in the image."""

    def __init__(self, program: Program, function: Callable[[], np.record], kind: ValueType) -> None:
        functools.update_wrapper(self, function)
        self.function, self.kind = function, kind
        self.name = f"{function.__module__}.{function.__qualname__}"
        self._program = program

    def __call__(self) -> np.record:
        """Return the record: the image's read-only one if the image is loaded, otherwise a new one."""
        address = self._program.places.get(self.name)
        if address is None:
            return self.function()
        import ctypes

        import numpy as np

        dtype: Any = self.kind.dtype
        memory: Any = (ctypes.c_char * dtype.itemsize).from_address(address)
        records = np.frombuffer(memory, dtype)
        records.flags.writeable = False  # a write would end the process
        record: np.record = records[0]
        return record
