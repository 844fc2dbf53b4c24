"""Whether this is the executable for those without Python, a *frozen* program: Python and all packages are in it."""

import sys

# Set by PyInstaller.
FROZEN: bool = getattr(sys, "frozen", False)


def own_command() -> tuple[str, ...]:
    """Return the command that starts this program."""
    return (sys.executable,) if FROZEN else (sys.executable, "-m", "knightadder")
