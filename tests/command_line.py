"""The command in this process."""

from __future__ import annotations

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
