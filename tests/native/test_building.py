"""Building: what the process of the builder prints reaches whoever waits."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from knightadder.native import building
from knightadder.native.building import ImageError, run_builder

BUILDER_FILE = "knightadder/native/builder.py"
BUILDER = """
import sys

def main():
    print("a warning", file=sys.stderr, flush=True)
    print("compiling 1/2", flush=True)
    print("compiling 2/2", flush=True)
    print("x" * 1_000_000, file=sys.stderr, flush=True)  # more than a pipe holds
    with open(sys.path[1] + "/made", "w") as file:
        file.write(" ".join(sys.argv[1:]))
"""


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a package that has nothing but a stand-in for the builder."""
    monkeypatch.setattr(building, "_ROOT", tmp_path)
    file = tmp_path / BUILDER_FILE
    file.parent.mkdir(parents=True)
    for folder in list(file.parents)[:2]:
        (folder / "__init__.py").touch()
    file.write_text(BUILDER)
    return tmp_path


def test_progress_is_reported_and_nothing_else(sources: Path) -> None:
    lines: list[str] = []
    run_builder([str(sources), "one", "two", "--tune"], lines.append)
    assert lines == ["compiling", "compiling 1/2", "compiling 2/2"]
    assert (sources / "made").read_text() == "one two --tune"


def test_a_failure_is_told_in_one_line_with_all_that_was_printed_behind_it(sources: Path) -> None:
    (sources / BUILDER_FILE).write_text("print('before')\nraise ValueError('why')\n")
    with pytest.raises(ImageError) as caught:
        run_builder([str(sources), "one"], lambda line: None)
    assert str(caught.value) == "ValueError: why"
    assert "before" in str(caught.value.__cause__)
    assert "Traceback" in str(caught.value.__cause__)


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_builder_that_the_system_kills_is_told_of(sources: Path) -> None:
    (sources / BUILDER_FILE).write_text(
        "import os, signal\nprint('a warning', flush=True)\nos.kill(os.getpid(), signal.SIGKILL)\n"
    )
    with pytest.raises(ImageError, match=r"^the compiler was ended by signal 9, perhaps for lack of memory$"):
        run_builder([str(sources), "one"], lambda line: None)


def test_what_interrupts_the_report_ends_the_builder(sources: Path) -> None:
    (sources / BUILDER_FILE).write_text("while True:\n    print('compiling 1/2', flush=True)\n")

    def report(line: str) -> None:
        if line == "compiling 1/2":
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        run_builder([str(sources), "one"], report)
