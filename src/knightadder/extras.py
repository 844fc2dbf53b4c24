"""Imports of optional dependencies (extras)."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from knightadder.engine.errors import OptionError

_NAMES = {
    "dask": "Dask",
    "distributed": "Dask",
    "matplotlib": "Matplotlib",
    "numba": "Numba",
    "pandas": "pandas",
    "scipy": "SciPy",
}


@contextlib.contextmanager
def needed_by(command: str, extra: str = "workshop") -> Iterator[None]:
    """Run a ``with`` block that imports libraries of an extra.

    Parameters
    ----------
    command : str
        The command that needs the libraries, for the message.
    extra : str
        The name of the extra.

    Raises
    ------
    OptionError
        If one of them is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        name = _NAMES.get((error.name or "").partition(".")[0])
        if name is None:
            raise
        raise OptionError(f"{command} needs {name}: pip install 'knightadder[{extra}]'") from None
