"""XBoard itself lets this engine play others: `benchmarks/xboard_games.py` judges the games."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from engine_process import TIMEOUT

from knightadder.engine.errors import OptionError
from knightadder.uci.client import resolve_command

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "xboard_games.py"
PROGRAMS = ("xboard", "Xvfb", "polyglot", "fairymax", "gnuchess", "toga2")  # the script needs all of them
RULES = {"mate", "stalemate", "repetition", "fifty moves", "insufficient material"}


def missing() -> list[str]:
    """Give the programs that are not installed."""
    names = []
    for name in PROGRAMS:
        try:
            resolve_command(name)
        except OptionError:
            names.append(name)
    return names


@pytest.mark.skipif(bool(missing()), reason=f"not installed: {', '.join(missing())}")
def test_a_game_with_each_colour_against_other_engines_ends_by_the_rules() -> None:
    command = [sys.executable, str(SCRIPT), "--only", "to depth 4", "--games", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(re.findall(r": 1 games; ", done.stdout)) == 2
    ends = re.findall(r"^  ends: (.+) 1$", done.stdout, re.MULTILINE)
    assert len(ends) == 2
    assert set(ends) <= RULES
