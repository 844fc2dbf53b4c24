"""Imports of optional dependencies (extras)."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterator
from pathlib import Path

from knightadder.engine.errors import OptionError

_PACKAGE = Path(__file__).parent
_NAMES = {
    "berserk": "berserk",
    "dask": "Dask",
    "distributed": "Dask",
    "matplotlib": "Matplotlib",
    "numba": "Numba",
    "pandas": "pandas",
    "requests": "requests",
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
        raise OptionError(f"{command} needs {name}: {install_command(extra)}") from None


def install_command(extra: str) -> str:
    """Return the command that installs an extra.

    A development checkout is installed in place (``-e``). The same command without that would replace it by a copy,
    which knows nothing of later changes of the sources, and by the published version if its name were given.

    Parameters
    ----------
    extra : str
        The name of the extra.
    """
    checkout = _PACKAGE.parents[1]
    if _PACKAGE.parent.name == "src" and (checkout / "pyproject.toml").is_file():
        return f"pip install -e {shlex.quote(f'{checkout}[{extra}]')}"
    return f"pip install 'knightadder[{extra}]'"
