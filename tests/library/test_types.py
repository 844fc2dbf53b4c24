"""The library's types are complete: mypy checks a user's script in its strict mode."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import knightadder

SCRIPT = Path(__file__).with_name("user_script.py")
SOURCE = Path(knightadder.__file__).parents[1]


def test_mypy_is_content_with_a_users_script(tmp_path: Path) -> None:
    text = SCRIPT.read_text("utf-8")
    wrong = tmp_path / "wrong.py"  # or mypy may have been content with anything
    wrong.write_text(text.replace("value + 1", "value.upper()"), "utf-8")
    # From elsewhere, without this project's configuration.
    files = [str(SCRIPT), str(wrong)]
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={tmp_path / 'cache'}", *files]
    environment = {**os.environ, "MYPYPATH": str(SOURCE)}
    found = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=1000).stdout
    # What the package imports is not the user's: only what mypy says of the script counts.
    assert not re.findall(r"user_script\.py:.*", found)
    assert re.findall(r"wrong\.py:.*attr-defined", found)


def test_the_script_uses_all_public_names_and_runs() -> None:
    text = SCRIPT.read_text("utf-8")
    assert [name for name in knightadder.__all__ if not re.search(rf"\b{name}\b", text)] == []
    done = subprocess.run([sys.executable, str(SCRIPT)], capture_output=True, text=True, timeout=1000)
    assert done.returncode == 0, done.stderr
