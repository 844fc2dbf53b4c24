"""Building: the builder runs in a process of its own, which leaves neither Numba nor its memory behind."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

_SOURCES = Path(__file__).parents[2]  # the folder that has the package
_STEP = "compiling "  # begins each line of the builder that tells its progress
# Not by PYTHONPATH: in pip's build environments, what an editable installation has on its path is taken off again.
_START = "import sys; sys.path.insert(0, sys.argv.pop(1)); from knightadder.native.builder import main; main()"


class CoreError(RuntimeError):
    """There is no compiled core, and none can be built."""


def build(folder: Path, targets: Sequence[str], report: Callable[[str], None], *options: str) -> None:
    """Build images of the core from these sources.

    Parameters
    ----------
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
    from subprocess import DEVNULL, PIPE, STDOUT

    report(_STEP.strip())
    command = [sys.executable, "-P", "-c", _START, str(_SOURCES), str(folder), *targets, *options]
    flags = getattr(subprocess, "CREATE_NO_WINDOW", 0)  # on Windows
    printed = [""]
    # If `report` raises an error, the pipe is closed, which ends the builder at its next line.
    with subprocess.Popen(
        command, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT, text=True, creationflags=flags
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith(_STEP):
                report(line.strip())
            else:
                printed.append(line)
    if process.returncode != 0:
        raise CoreError(f"the core cannot be compiled: {printed[-1].strip()}") from RuntimeError("".join(printed))
