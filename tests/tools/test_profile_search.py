"""Calls of the core's functions, counted."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "tools" / "profile_search.py"


def test_it_counts_the_calls_of_kernels() -> None:
    command = [sys.executable, str(SCRIPT), "--depth", "1", "--rows", "100"]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    calls = {name: int(count.replace(",", "")) for count, name in map(str.split, shown.splitlines())}
    assert calls["quiescence.quiesce"] > calls["search.search"] > 0
    assert list(calls.values()) == sorted(calls.values(), reverse=True)
    assert "bitboard.bit" not in calls
