"""A second process that compiles a share of the entry points into the cache, while the first compiles the others.

Only the first holds the lock of the cache. Nobody reads the second's standard output and standard error, and it leaves
Ctrl-C to the first. However the first ends, the second ends too, because its standard input is closed then.
"""

import contextlib
import gc
import importlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from .processors import processors

_PACKAGES = Path(__file__).parents[3]  # the folder from which this package is imported


@contextlib.contextmanager
def compiling(functions: Sequence[Callable], folder: Path) -> Iterator[None]:
    """Have a second process compile entry points, one after the other, while the context lasts.

    No second process runs if this one has only one processor, or if the start fails. At the end of the context the
    second is killed, even if it has not compiled everything. Its failure is not reported.

    Parameters
    ----------
    functions : sequence of function
        The entry points, as Python functions.
    folder : Path
        The folder of the cache, see `cache.CacheState`.
    """
    process = None
    # In a program frozen into one file sys.executable is that program.
    if functions and processors() > 1 and sys.executable and not getattr(sys, "frozen", False):
        with contextlib.suppress(OSError, ValueError):
            process = _start(functions, folder)
    try:
        yield
    finally:
        if process is not None:
            process.kill()
            process.wait()
            process.stdin.close()


def compile_share(names: Sequence[str]) -> None:
    """Compile entry points into the cache, unless they are there; the second process runs this.

    Parameters
    ----------
    names : sequence of str
        The entry points, each as ``module:function``.
    """
    from .jit import ENTRIES

    for name in names:
        module, function = name.split(":")
        wanted = getattr(importlib.import_module(module), function)
        for compiled, signature in ENTRIES:
            if compiled is wanted:
                compiled.compile(signature)


def _start(functions: Sequence[Callable], folder: Path) -> subprocess.Popen:
    names = [f"{function.__module__}:{function.__name__}" for function in functions]
    packages = filter(None, (str(_PACKAGES), os.environ.get("PYTHONPATH")))
    return subprocess.Popen(
        # -P: import nothing from the working directory, which can belong to anybody.
        [sys.executable, "-P", "-m", __name__, *names],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"KNIGHTADDER_CACHE": str(folder.parent), "PYTHONPATH": os.pathsep.join(packages)},
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),  # on Windows
    )


def _leave_with_parent() -> None:
    """Exit when standard input ends, which happens when the parent process ends."""
    with contextlib.suppress(OSError):
        os.read(0, 1)
    os._exit(1)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    gc.disable()  # this process is short-lived
    compile_share(sys.argv[1:])
