"""Whether this program is the executable for users without Python: a *frozen* program that contains Python."""

import sys
from collections.abc import Sequence
from pathlib import Path

from knightadder.text import command_line

# PyInstaller sets this attribute.
FROZEN: bool = getattr(sys, "frozen", False)


def own_command() -> tuple[str, ...]:
    """Return the command that starts this program."""
    return (sys.executable,) if FROZEN else (sys.executable, "-m", "knightadder")


def typed_command(words: Sequence[str]) -> str:
    """Return a command of this program, for the user to type. The program has the name by which it was called."""
    by_module = sys.argv[:1] == [str(Path(__file__).with_name("__main__.py"))]
    return command_line([*(own_command() if FROZEN or by_module else ["knightadder"]), *words])
