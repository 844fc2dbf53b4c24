"""The example of the documents: a program that is no chess engine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import knightadder
from knightadder.native.program import BOUNDSCHECK, INTERPRETED

ROOT = Path(__file__).parents[2]
TRY = """
import sys
import numpy as np
from collatz import collatz
from collatz.sequences import known_lengths, longest, write_lengths

lines = []
collatz.load(lines.append)
counts = np.zeros(10, np.int64)
write_lengths(known_lengths(), 1, counts)
print(longest(known_lengths(), 1, END), counts.tolist(), lines[-1:], "numba" in sys.modules)
"""


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """Give a copy of the example, for its image is put beside it."""
    shutil.copytree(
        ROOT / "docs" / "examples" / "collatz", tmp_path / "collatz", ignore=shutil.ignore_patterns("*.image*")
    )
    return tmp_path


def start(folder: Path, end: int, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the program in a process."""
    path = os.pathsep.join([str(folder), str(Path(knightadder.__file__).parents[1])])
    return subprocess.run(
        [sys.executable, "-c", TRY.replace("END", str(end))],
        env=os.environ | {"PYTHONPATH": path} | environment,
        capture_output=True,
        text=True,
        timeout=250,
    )


def run(folder: Path, end: int, **environment: str) -> str:
    """Run the program, and give what it prints."""
    done = start(folder, end, **environment)
    assert done.stderr == ""
    return done.stdout.strip()


# OEIS A006577 and A006877.
LENGTHS = [0, 1, 7, 2, 5, 8, 16, 3, 19, 6]


@pytest.mark.skipif(BOUNDSCHECK or INTERPRETED, reason="the test sets these variables itself")
def test_the_example_is_built_once_and_loaded_without_numba(example: Path) -> None:
    assert run(example, 1_000_000) == f"837799 {LENGTHS} ['compiling 4/4'] False"
    assert run(example, 1_000_000) == f"837799 {LENGTHS} [] False"
    (example / "collatz" / "other.py").touch()
    assert run(example, 1_000_000).endswith("['compiling 4/4'] False")


def test_the_example_runs_interpreted(example: Path) -> None:
    assert run(example, 1000, KNIGHTADDER_INTERPRET="1") == f"871 {LENGTHS} [] False"
    assert not list(example.rglob("*.image"))


def test_a_program_that_cannot_be_compiled_says_why(example: Path) -> None:
    file = example / "collatz" / "sequences.py"
    file.write_text(file.read_text().replace("for n in range(start, end)", "for n in [start, 'end']"))
    done = start(example, 1000, KNIGHTADDER_INTERPRET="")
    assert "ImageError: the collatz cannot be compiled: " in done.stderr.splitlines()[-1]
    assert "longest" in done.stderr
