"""Whether this program is the executable for users without Python: a *frozen* program that contains Python."""

import sys

# PyInstaller sets this attribute.
FROZEN: bool = getattr(sys, "frozen", False)


def own_command() -> tuple[str, ...]:
    """Return the command that starts this program."""
    return (sys.executable,) if FROZEN else (sys.executable, "-m", "knightadder")
