"""The second compiling process: when there is one, and that it is quiet and ends with the first."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import knightadder
from knightadder.core.native import second_compiler

TIMEOUT = 300.0

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")

# Is imported by the second process in place of an entry point's module.
BUSY = """
import signal, sys, time
signal.raise_signal(signal.SIGINT)  # to which it is deaf
print("busy", file=sys.stderr, flush=True)
time.sleep(600)
"""
NOISY = """
import sys
print("noise", flush=True)
print("noise", file=sys.stderr, flush=True)
"""

# The first process. The second one inherits its outputs here, so that they end when both processes have ended.
FIRST = """
import os, subprocess, sys
from pathlib import Path
from knightadder.core.native import second_compiler
second_compiler.processors = lambda: 2
subprocess.DEVNULL = None

def entry():
    pass

entry.__module__ = "busy"
try:
    with second_compiler.compiling([entry], Path(sys.argv[1])):
        sys.stdin.readline()
        if sys.argv[2] == "exit":
            os._exit(0)
except KeyboardInterrupt:
    os._exit(130)
"""

LISTEN = """
import sys
from pathlib import Path
from knightadder.core.native import second_compiler
second_compiler.processors = lambda: 2

def entry():
    pass

entry.__module__ = "noisy"
start = second_compiler._start

def wait(functions, folder):
    process = start(functions, folder)
    process.wait()
    return process

second_compiler._start = wait
with second_compiler.compiling([entry], Path(sys.argv[1])):
    pass
print("end")
"""


def start_python(folder: Path, code: str, *arguments: str) -> subprocess.Popen:
    """Start Python in a session of its own, with modules in a folder."""
    return subprocess.Popen(
        [sys.executable, "-c", code, str(folder / "core-0"), *arguments],
        env=os.environ | {"PYTHONPATH": f"{Path(knightadder.__file__).parents[1]}{os.pathsep}{folder}"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@pytest.fixture
def first(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[subprocess.Popen]:
    """Give the first process, while the second one is busy."""
    (tmp_path / "busy.py").write_text(BUSY)
    process = start_python(tmp_path, FIRST, request.param)
    assert process.stderr is not None
    assert process.stderr.readline() == "busy\n"
    yield process
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError):  # as it should be: both are gone
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.communicate()


def rest(process: subprocess.Popen, text: str | None = None) -> tuple[int, str, str]:
    """Wait until both processes have ended, and give the status of the first and what they wrote."""
    output, errors = process.communicate(text, timeout=TIMEOUT)
    return process.returncode, output, errors


@pytest.mark.parametrize("first", ["leave", "exit"], indirect=True)
def test_it_ends_when_the_first_has_done_or_leaves(first: subprocess.Popen) -> None:
    assert rest(first, "\n") == (0, "", "")


@pytest.mark.parametrize("first", ["wait"], indirect=True)
def test_it_ends_when_the_first_is_killed(first: subprocess.Popen) -> None:
    first.kill()
    _, output, errors = rest(first)
    assert (output, errors) == ("", "")


@posix_only
@pytest.mark.parametrize("first", ["wait"], indirect=True)
def test_it_leaves_ctrl_c_to_the_first(first: subprocess.Popen) -> None:
    os.killpg(first.pid, signal.SIGINT)  # as a terminal sends it: to both
    assert rest(first) == (130, "", "")


def test_nobody_hears_of_it(tmp_path: Path) -> None:
    (tmp_path / "noisy.py").write_text(NOISY)
    assert rest(start_python(tmp_path, LISTEN)) == (0, "end\n", "")


def entry() -> None:
    """Stand for an entry point."""


@pytest.mark.parametrize(
    ("processors", "executable", "frozen", "number"),
    [(1, "python", False, 1), (2, "", False, 1), (2, "python", True, 1), (2, "python", False, 0)],
)
def test_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, processors: int, executable: str, frozen: bool, number: int
) -> None:
    started = []
    monkeypatch.setattr(second_compiler, "processors", lambda: processors)
    monkeypatch.setattr(second_compiler, "_start", lambda functions, folder: started.append(functions))
    monkeypatch.setattr(sys, "executable", executable)
    monkeypatch.setattr(sys, "frozen", frozen, raising=False)
    with second_compiler.compiling([entry] * number, tmp_path):
        pass
    assert started == []
