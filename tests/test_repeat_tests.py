"""The tool that repeats the tests on a busy machine."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

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


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    script = Path(__file__).parents[1] / "tools" / "repeat_tests.py"
    spec = importlib.util.spec_from_file_location("repeat_tests", script)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "repeat_tests", module)
    spec.loader.exec_module(module)
    return module


def test_it_lists_what_ever_failed(
    tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    busy: list[subprocess.Popen[bytes]] = []
    tests, logs = tmp_path / "test_some.py", tmp_path / "logs"
    tests.write_text(SOMETIMES)
    start = subprocess.Popen

    def note(command: list[str], **options: object) -> subprocess.Popen[bytes]:
        process = start(command, **options)  # type: ignore[call-overload]
        if tool.BUSY in command:
            busy.append(process)
        else:
            assert busy[-1].poll() is None
        return process

    monkeypatch.setattr(subprocess, "Popen", note)
    # The root, which names are told from, would else be what the checkout and the temporary folder have in common.
    alone = ["-n0", "-p", "no:cacheprovider", "--rootdir", str(tmp_path)]
    options = ["--busy", "1", "--logs", str(logs), "--", *alone, str(tests)]
    assert tool.main(["--times", "2", *options]) == 1
    assert all(process.returncode is not None for process in busy)
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("run 1: 1 failed, status 1, ")
    assert lines[2].startswith("run 2: passed, status 0, ")
    assert lines[3:] == [f"1 of 2  {tests.name}::test_sometimes[8/8 w - - 0 1]", "1 of 2 runs passed"]
    assert "1 failed, 1 passed" in (logs / "run-1.log").read_text()
    assert "2 passed" in (logs / "run-2.log").read_text()
    assert tool.main(["--times", "1", *options]) == 0
    capsys.readouterr()
    assert tool.main(["--times", "1", *options, "--no-such-option"]) == 1
    assert capsys.readouterr().out.splitlines()[1].startswith("run 1: 0 failed, status 4, ")
    assert len(busy) == 3


def test_a_busy_process_ends_with_the_tool(tool: ModuleType) -> None:
    process = subprocess.Popen([sys.executable, "-c", tool.BUSY], stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(300) == 0
