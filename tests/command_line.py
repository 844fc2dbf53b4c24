"""The command in this process."""

from __future__ import annotations

import re
import sys

import pytest

from knightadder import cli


def run_command(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int | str | None, str, str]:
    """Run the command and give its status, standard output and standard error."""
    status: int | str | None
    try:
        status = cli.main([*map(str, arguments)])
    except SystemExit as end:  # argparse
        status = end.code
    return status, *capsys.readouterr()


def use_terminal(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    """Let standard output be a terminal of this width."""
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)


def plain(text: str) -> str:
    """Return a text for a terminal without its colours and cursor movements."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
