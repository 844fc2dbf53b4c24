"""The processors: how many there are, what this one can do, and that one which can too little is told so."""

import os
import platform
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from knightadder.native import processors as module
from knightadder.native.builder import TARGETS
from knightadder.native.building import ImageError
from knightadder.native.processors import host_machine, host_target, processors, x86_64_level

CPU_INFO = Path("/proc/cpuinfo")
# By level, some of the instructions that it brings, as Linux calls them.
BROUGHT = {2: {"sse4_2", "popcnt", "ssse3"}, 3: {"avx2", "fma", "bmi1", "bmi2", "movbe", "f16c"}}
BROUGHT[4] = {"avx512f", "avx512dq", "avx512cd", "avx512bw", "avx512vl", "avx512_vbmi2"}

# A processor that is too old, where NumPy cannot be imported.
OLD_PROCESSOR = """
import sys
sys.modules["numpy"] = None
from knightadder.native import processors
processors.x86_64_level = lambda: 1
processors.host_machine = lambda: "x86_64"
"""
RUN = "from knightadder.cli import main\nsys.exit(main(sys.argv[1:]))"
REASON = "the engine cannot be loaded: this processor is not supported, because it lacks SSE4.2 or POPCNT"


def test_processors_are_those_that_this_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {3}, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    assert processors() == 1
    monkeypatch.delattr(os, "sched_getaffinity")
    assert processors() == 8
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert processors() == 1


@pytest.mark.skipif(host_machine() not in ("x86_64", "amd64"), reason="it has no such level")
def test_the_level_is_that_of_the_instructions_which_the_processor_has() -> None:
    level = x86_64_level()
    assert level in (1, 2, 3, 4)
    if platform.system() == "Linux":
        flags = CPU_INFO.read_text().partition("\nflags")[2].partition("\n")[0].split()
        for brings, names in BROUGHT.items():
            assert (level >= brings) == (names <= set(flags))


@pytest.mark.parametrize(
    ("system", "machine", "level", "target"),
    [
        ("linux", "x86_64", 4, "x86-64-v4"),
        ("linux", "x86_64", 3, "x86-64-v3"),
        ("darwin", "x86_64", 2, "x86-64-v2"),
        ("win32", "AMD64", 4, "windows-x86-64-v4"),
        ("win32", "AMD64", 3, "windows-x86-64-v3"),
        ("win32", "AMD64", 2, "windows-x86-64-v2"),
        ("linux", "x86_64", 1, None),
        ("linux", "aarch64", None, "aarch64"),
        ("darwin", "arm64", None, "aarch64"),
        ("win32", "ARM64", None, None),
        ("linux", "riscv64", None, None),
    ],
)
def test_a_machine_gets_what_its_processor_runs(
    monkeypatch: pytest.MonkeyPatch, system: str, machine: str, level: int | None, target: str | None
) -> None:
    monkeypatch.setattr(module, "x86_64_level", lambda: level)
    monkeypatch.setattr(sys, "platform", system)
    # On Windows for ARM, this says ARM64 to an emulated Python for x86-64, too.
    monkeypatch.setattr(platform, "machine", lambda: "ARM64" if system == "win32" else machine)
    monkeypatch.setattr(sysconfig, "get_platform", lambda: f"win-{machine.lower()}")
    if target is None:
        with pytest.raises(ImageError, match="processor is not supported"):
            host_target()
    else:
        assert host_target() == target
        assert target in TARGETS


def on_old_processor(code: str, *arguments: str) -> tuple[int, str, str]:
    """Run Python code there; give the exit status, standard output and standard error."""
    command = [sys.executable, "-c", OLD_PROCESSOR + code, *arguments]
    done = subprocess.run(command, input="isready\n", capture_output=True, text=True, timeout=200)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    "command",
    [
        "bench 1",
        "annotate games.pgn",
        "match --engine --engine name=other --each nodes=10 --games 2",
        "train games --state run",
        "play --no-browser",
    ],
)
def test_a_processor_that_is_too_old_is_told_so_before_numpy_is_imported(command: str) -> None:
    assert on_old_processor(RUN, *command.split()) == (1, "", f"knightadder: {REASON}\n")


@pytest.mark.parametrize("command", [[], ["xboard"]])
def test_a_chess_program_on_such_a_processor_is_told_so(command: list[str]) -> None:
    status, output, errors = on_old_processor(RUN, *command)
    assert (status, errors) == (1, "")
    assert output.splitlines()[-1].endswith(REASON)


@pytest.mark.parametrize("code", ["from knightadder import Engine", "import knightadder\nknightadder.pack"])
def test_a_program_that_uses_the_library_there_is_told_so(code: str) -> None:
    status, output, errors = on_old_processor(code)
    assert (status, output) == (1, "")
    assert errors.splitlines()[-1] == f"ImportError: {REASON}"
