"""Building: the builder runs in a separate process, so that neither Numba nor its memory remains in this one."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

_ROOT = Path(__file__).parents[__name__.count(".")]  # the folder from which this package is imported
_STEP = "compiling "  # start of each progress line of the builder
# PYTHONPATH is not used, because pip's build environments remove the paths of editable installations from it.
_START = f"import sys; sys.path[:0] = sys.argv[1:3]; del sys.argv[1:3]; from {__package__}.builder import main; main()"


class ImageError(RuntimeError):
    """There is no matching image, and none can be built."""


def run_builder(arguments: Sequence[str], report: Callable[[str], None]) -> None:
    """Run the builder with the arguments of `builder.main`, and report lines such as ``compiling 31/334``. If the
    builder fails, an `ImageError` is raised with the last line that the builder printed, or the signal that ended it;
    its cause has all lines.
    """
    import subprocess  # imported late, because most starts do not need it
    from subprocess import DEVNULL, PIPE, STDOUT

    report(_STEP.strip())
    command = [sys.executable, "-P", "-c", _START, str(_ROOT), *arguments]
    flags = getattr(subprocess, "CREATE_NO_WINDOW", 0)  # only on Windows
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
        reason = printed[-1].strip()
        if process.returncode < 0:  # on Linux, SIGKILL may come from the system, which has too little memory
            reason = f"the compiler was ended by signal {-process.returncode}, perhaps for lack of memory"
        raise ImageError(reason) from RuntimeError("".join(printed))
