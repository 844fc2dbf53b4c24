"""Building: the builder runs in a process of its own, which leaves neither Numba nor its memory behind."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

_STEP = "compiling "  # begins each line of the builder that tells its progress
# Not by PYTHONPATH: in pip's build environments, what an editable installation has on its path is taken off again.
_START = (
    "import runpy, sys; sys.path.insert(0, sys.argv.pop(1)); "
    "runpy.run_module('knightadder.core.native.builder', run_name='__main__', alter_sys=True)"
)


class CoreError(RuntimeError):
    """There is no compiled core, and none can be built."""


def build(sources: Path, folder: Path, targets: Sequence[str], report: Callable[[str], None], *options: str) -> None:
    """Build images of the core.

    Parameters
    ----------
    sources : Path
        The folder that has the package.
    folder : Path
        Where the images go.
    targets : sequence of str
        The names of the images to build.
    report : callable
        Receives a line such as ``compiling 31/334`` whenever there is progress.
    *options : str
        Of the builder: ``--tune`` for the processor at hand, which others can run all the same; ``--boundscheck`` to
        check each index.

    Raises
    ------
    CoreError
        If the core cannot be compiled. The error's cause has all that the builder printed.
    """
    import subprocess  # which most starts do not need

    report(_STEP.strip())
    command = [sys.executable, "-P", "-c", _START, str(sources), str(folder), *targets, *options]
    printed = [""]
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),  # on Windows
    ) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                if line.startswith(_STEP):
                    report(line.strip())
                else:
                    printed.append(line)
        except BaseException:
            process.kill()
            raise
    if process.returncode != 0:
        raise CoreError(f"the core cannot be compiled: {printed[-1].strip()}") from RuntimeError("".join(printed))
