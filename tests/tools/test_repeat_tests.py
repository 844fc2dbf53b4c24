"""The tool that repeats the tests on a busy machine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import repeat_tests

SOMETIMES = """
from pathlib import Path

import pytest

def test_always():
    pass

@pytest.mark.parametrize("fen", ["8/8 w - - 0 1"])
def test_sometimes(fen):
    done = Path(__file__).with_suffix(".done")
    before = done.exists()
    done.touch()
    assert before
"""


def test_it_lists_what_ever_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    busy: list[subprocess.Popen[bytes]] = []
    tests, logs = tmp_path / "test_some.py", tmp_path / "logs"
    tests.write_text(SOMETIMES)
    start = subprocess.Popen

    def note(command: list[str], **options: object) -> subprocess.Popen[bytes]:
        process = start(command, **options)  # type: ignore[call-overload]
        if repeat_tests.BUSY in command:
            busy.append(process)
        else:
            assert busy[-1].poll() is None
        return process

    monkeypatch.setattr(subprocess, "Popen", note)
    # The root, which names are told from, would else be what the checkout and the temporary folder have in common.
    alone = ["-n0", "-p", "no:cacheprovider", "--rootdir", str(tmp_path)]
    options = ["--busy", "1", "--logs", str(logs), "--", *alone, str(tests)]
    assert repeat_tests.main(["--times", "2", *options]) == 1
    assert all(process.returncode is not None for process in busy)
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("run 1: 1 failed, status 1, ")
    assert lines[2].startswith("run 2: passed, status 0, ")
    assert lines[3:] == [f"1 of 2  {tests.name}::test_sometimes[8/8 w - - 0 1]", "1 of 2 runs passed"]
    assert "1 failed, 1 passed" in (logs / "run-1.log").read_text()
    assert "2 passed" in (logs / "run-2.log").read_text()
    assert repeat_tests.main(["--times", "1", *options]) == 0
    capsys.readouterr()
    assert repeat_tests.main(["--times", "1", *options, "--no-such-option"]) == 1
    assert capsys.readouterr().out.splitlines()[1].startswith("run 1: 0 failed, status 4, ")
    assert len(busy) == 3


def test_a_busy_process_ends_with_the_tool() -> None:
    process = subprocess.Popen([sys.executable, "-c", repeat_tests.BUSY], stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(200) == 0
