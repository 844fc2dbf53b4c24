"""The start of the executable that ``build_executable.py`` builds.

It takes the arguments of ``knightadder``. Without arguments, it speaks UCI. Commands that use several processes start
it again with the arguments of `multiprocessing`.
"""

import multiprocessing
import os
import sys


def restore_environment() -> None:
    """Let programs that this program starts, such as a browser, find the system's libraries first.

    On Linux, PyInstaller sets a variable so that its own libraries are found first. This process has already read the
    variable. Each process that it starts must get the user's original value.
    """
    before = os.environ.pop("LD_LIBRARY_PATH_ORIG", None)
    if before is not None:
        os.environ["LD_LIBRARY_PATH"] = before
    else:
        os.environ.pop("LD_LIBRARY_PATH", None)
    os.environ["PYINSTALLER_RESET_ENVIRONMENT"] = "1"


def start() -> int:
    """Run the command and return the exit status. In a process started by `multiprocessing`, do that process's work."""
    multiprocessing.freeze_support()  # a process started by multiprocessing works and ends here
    if sys.platform == "linux":
        restore_environment()
    from knightadder.__main__ import main

    return main()


if __name__ == "__main__":
    sys.exit(start())
