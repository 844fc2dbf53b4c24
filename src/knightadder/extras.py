"""Imports of optional dependencies (extras)."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

from knightadder.engine.errors import OptionError
from knightadder.frozen import FROZEN
from knightadder.text import command_line

_PACKAGE = Path(__file__).parent
_NAMES = {
    "dask": "Dask",
    "distributed": "Dask",
    "matplotlib": "Matplotlib",
    "numba": "Numba",
    "pandas": "pandas",
    "pyarrow": "PyArrow",
    "requests": "requests",
    "scipy": "SciPy",
}


@contextlib.contextmanager
def needed_by(command: str, extra: str = "workshop") -> Iterator[None]:
    """Run a ``with`` block that imports libraries of an extra for a command; OptionError if a library is missing."""
    import logging

    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it warns if its cache is temporary
    try:
        yield
    except ModuleNotFoundError as error:
        name = _NAMES.get((error.name or "").partition(".")[0])
        if name is None:
            raise
        raise OptionError(f"{command} needs {name}: {install_command(extra)}") from None


def install_command(extra: str) -> str:
    """Return the command that installs an extra for this Python; the executable cannot take more packages.

    The pip of a different Python would look for Knightadder on a package index, so the command names this Python. A
    development checkout is installed in place (``-e``), because a copy would ignore later changes of the sources.
    """
    if FROZEN:
        return f"the executable does not include it; install Python, then: pip install knightadder[{extra}]"
    if importlib.util.find_spec("pip"):
        words = [sys.executable, "-m", "pip", "install"]
    else:  # uv makes environments without pip
        words = ["uv", "pip", "install", "--python", sys.executable]
    checkout = _PACKAGE.parents[1]
    if _PACKAGE.parent.name == "src" and (checkout / "pyproject.toml").is_file():
        words += ["-e", f"{checkout}[{extra}]"]
    else:
        words.append(f"knightadder[{extra}]")
    return command_line(words)
