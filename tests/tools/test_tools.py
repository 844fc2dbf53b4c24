"""The scripts of tools and benchmarks: each is listed, and describes itself."""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted([*ROOT.glob("tools/*.py"), *ROOT.glob("benchmarks/*.py")])
SHARED = ("perft_epd", "uci_process")  # modules of the benchmarks


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_is_listed(script: Path) -> None:
    assert f"`{script.name}" in (script.parent / "README.md").read_text("utf-8")


@pytest.mark.parametrize(
    "script", [script for script in SCRIPTS if script.stem not in SHARED], ids=lambda file: file.stem
)
def test_a_script_describes_itself(
    script: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [str(script), "--help"])
    monkeypatch.syspath_prepend(script.parent)
    monkeypatch.setattr(os, "environ", os.environ.copy())  # what a script sets must not reach other tests
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(script), run_name="__main__")
    assert not ended.value.code
    assert capsys.readouterr().out.startswith("usage: ")
