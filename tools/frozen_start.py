"""The start of the executable that ``build_executable.py`` builds.

Without arguments, it speaks UCI; the arguments are those of ``knightadder``. Commands with several processes start it
again with arguments of `multiprocessing`.
"""

import multiprocessing
import os
import sys


def restore_environment() -> None:
    """Let the programs that this one starts, such as a browser, find the libraries of the system first.

    On Linux, PyInstaller makes its own libraries be found first. This process looked at the variable when it started.
    If it starts itself, that has to begin as if a user had started it.
    """
    before = os.environ.pop("LD_LIBRARY_PATH_ORIG", None)
    if before is not None:
        os.environ["LD_LIBRARY_PATH"] = before
    else:
        os.environ.pop("LD_LIBRARY_PATH", None)
    os.environ["PYINSTALLER_RESET_ENVIRONMENT"] = "1"


def start() -> int:
    """Run the command, or the work of a process that `multiprocessing` has started; return the exit status."""
    multiprocessing.freeze_support()  # such a process ends here
    if sys.platform == "linux":
        restore_environment()
    from knightadder.__main__ import main

    return main()


if __name__ == "__main__":
    sys.exit(start())
