"""The library's types are complete: mypy checks a user's script, as `make lint` does, and the script runs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import knightadder

SCRIPT = Path(__file__).with_name("user_script.py")


def test_the_script_uses_all_public_names_and_runs() -> None:
    text = SCRIPT.read_text("utf-8")
    assert [name for name in knightadder.__all__ if not re.search(rf"\b{name}\b", text)] == []
    done = subprocess.run([sys.executable, str(SCRIPT)], capture_output=True, text=True, timeout=250)
    assert done.returncode == 0, done.stderr
