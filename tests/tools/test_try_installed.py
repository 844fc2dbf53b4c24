"""The tools that try the engine as it was installed, here and on other systems."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import try_platforms
from try_installed import TrialError, converse, run, try_engine

PYTHON = [sys.executable, "-c"]
SILENT = [*PYTHON, "import time; time.sleep(600)"]
ECHO = [*PYTHON, "import sys\nfor line in sys.stdin: print(line, end='', flush=True)"]
ENDS = [*PYTHON, "print('no memory'); raise SystemExit(3)"]


def test_an_answer_that_does_not_come_is_named() -> None:
    with pytest.raises(TrialError, match=r"^no readyok within 0.1 s after 'isready'$"):
        converse(SILENT, [("isready", "readyok")], timeout=0.1)
    with pytest.raises(TrialError, match=r"^no end within 0.1 s after 'quit'$"):
        converse(SILENT, [("quit", "")], timeout=0.1)


def test_an_engine_that_ends_before_its_answer_is_told_with_its_last_line() -> None:
    with pytest.raises(TrialError, match=r"^the engine ended before uciok, after the line no memory$"):
        converse(ENDS, [("uci", "uciok")])
    with pytest.raises(TrialError, match=r"^the engine ended with status 3$"):
        converse(ENDS, [("", "no memory"), ("", "")])


def test_an_engine_that_ended_before_anything_was_sent_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    start = subprocess.Popen

    def start_and_wait(*arguments: Any, **options: Any) -> subprocess.Popen[str]:
        process = start(*arguments, **options)
        process.wait()
        return process

    monkeypatch.setattr(subprocess, "Popen", start_and_wait)
    with pytest.raises(TrialError, match=r"^the engine ended before uciok, after the line no memory$"):
        converse(ENDS, [("uci", "uciok")])


def test_nothing_is_sent_before_the_answer_to_what_was_sent_before() -> None:
    end = "import sys\nprint(input(), flush=True)\nprint(input(), flush=True)"
    assert converse([*PYTHON, end], [("one", "one"), ("two", "two"), ("", "")]) == ["one", "two"]
    with pytest.raises(TrialError, match=r"^no two within"):
        converse(ECHO, [("one", "two"), ("two", "two")], timeout=0.1)


def test_a_command_that_fails_or_does_not_end_is_named() -> None:
    with pytest.raises(TrialError, match=r"^bench: status 3; it printed no memory$"):
        run(ENDS, "bench")
    with pytest.raises(TrialError, match=r"^bench: no end within 0.1 s$"):
        run(SILENT, "bench", timeout=0.1)


def test_the_engine_passes_what_it_has_to_pass_everywhere(capsys: pytest.CaptureFixture[str]) -> None:
    results = try_engine([sys.executable, "-m", "knightadder"])
    assert results["perft 4"] == "197281"  # https://www.chessprogramming.org/Perft_Results
    assert results["bench"].isdecimal()
    assert len({results[f"depth 8 by {name}"] for name in ("classical", "pesto", "nnue")}) == 3
    assert results["xboard"].startswith("move ")
    assert results["match"].endswith("(W-D-L)")
    assert results["board"] == "Knightadder"
    assert "two threads, stop, quit: answered" in capsys.readouterr().out


def test_what_an_emulator_needs_is_said_in_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(sys, "argv", ["try_platforms.py", str(tmp_path)])
    with pytest.raises(SystemExit) as end:
        try_platforms.main()
    assert end.value.code
    assert capsys.readouterr().out.splitlines() == [
        "linux-aarch64: install qemu-user-static and debootstrap",
        "windows-amd64: install wine64",
    ]
    assert list(tmp_path.iterdir()) == []


def test_wine_finds_a_folder_on_its_drive_z() -> None:
    assert try_platforms.windows_path(Path("/tmp/a folder/site")) == "Z:\\tmp\\a folder\\site"
