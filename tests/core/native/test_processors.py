"""The processors: how many there are, what this one can do, and that one which can too little is told so."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from knightadder.core.native import images
from knightadder.core.native.processors import processors, x86_64_level

CPU_INFO = Path("/proc/cpuinfo")
# By level, some of the instructions that it brings, as Linux calls them.
BROUGHT = {2: {"sse4_2", "popcnt", "ssse3"}, 3: {"avx2", "fma", "bmi1", "bmi2", "movbe", "f16c"}}

# Runs the command where NumPy cannot be imported.
OLD_PROCESSOR = """
import sys
sys.modules["numpy"] = None
from knightadder.core.native import images
images.x86_64_level = lambda: 1
images.host_machine = lambda: "x86_64"
from knightadder.cli import main
sys.exit(main(sys.argv[1:]))
"""


def test_processors_are_those_that_this_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {3}, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    assert processors() == 1
    monkeypatch.delattr(os, "sched_getaffinity")
    assert processors() == 8
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert processors() == 1


@pytest.mark.skipif(images.host_machine() not in ("x86_64", "amd64"), reason="it has no such level")
def test_the_level_is_that_of_the_instructions_which_the_processor_has() -> None:
    level = x86_64_level()
    assert level in (1, 2, 3)
    if platform.system() == "Linux":
        flags = CPU_INFO.read_text().partition("\nflags")[2].partition("\n")[0].split()
        for brings, names in BROUGHT.items():
            assert (level >= brings) == (names <= set(flags))


@pytest.mark.parametrize("arguments", [["bench", "1"], ["perft", "1"], ["analyse", "startpos", "--depth", "1"], []])
def test_a_processor_that_is_too_old_is_told_so_before_numpy_is_imported(arguments: list[str]) -> None:
    command = [sys.executable, "-c", OLD_PROCESSOR, *arguments]
    done = subprocess.run(command, input="isready\n", capture_output=True, text=True, timeout=600)
    reason = "the engine cannot be loaded: there is no compiled core for a processor of this kind"
    if arguments:
        assert (done.returncode, done.stdout, done.stderr) == (1, "", f"knightadder: {reason}\n")
    else:
        assert (done.returncode, done.stdout, done.stderr) == (1, f"info string {reason}\n", "")
