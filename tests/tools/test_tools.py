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


# The arguments of scripts that read a user's file, which is missing.
MISSING = {
    "bulk_reading": ["no.pgn"],
    "explorer": ["--index", "no.sqlite", "--games", "1"],
    "level_themes": ["no.csv"],
    "made_games": ["no/games.pgn"],
    "make_chess960_perft": ["no.epd", "out.epd"],
    "marks": ["measure", "no.pgn", "marks.jsonl"],
    "mates": ["no.epd", "2"],
    "perft_suite": ["no.epd"],
    "puzzle_ratings": ["no.csv"],
    "puzzles_check": ["no.csv"],
}


def run(script: Path, arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> object:
    """Run a script in this process, and give its exit status."""
    monkeypatch.setattr(sys, "argv", [str(script), *arguments])
    monkeypatch.syspath_prepend(script.parent)
    monkeypatch.setattr(os, "environ", os.environ.copy())  # what a script sets must not reach other tests
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(script), run_name="__main__")
    return ended.value.code


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_is_listed(script: Path) -> None:
    assert f"`{script.name}" in (script.parent / "README.md").read_text("utf-8")


@pytest.mark.parametrize(
    "script", [script for script in SCRIPTS if script.stem not in SHARED], ids=lambda file: file.stem
)
def test_a_script_describes_itself(
    script: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not run(script, ["--help"], monkeypatch)
    assert capsys.readouterr().out.startswith("usage: ")


@pytest.mark.parametrize("name", MISSING)
def test_a_missing_file_is_named_in_one_line(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(ROOT / "benchmarks" / f"{name}.py", MISSING[name], monkeypatch) in (1, 2)
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(f"{name}: ") and " no" in line
