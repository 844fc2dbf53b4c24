"""The fuzz script: damage is repeatable, and a finding is reported once, with its input."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from random import Random

TOOL = Path(__file__).parents[1] / "tools" / "fuzz.py"
SPEC = importlib.util.spec_from_file_location("fuzz", TOOL)
fuzz = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(fuzz)


def test_damage_is_repeatable() -> None:
    first, again = ([fuzz.damaged(b"some data" * 9, Random(seed)) for seed in range(50)] for _ in range(2))
    assert first == again
    assert sum(data != b"some data" * 9 for data in first) > 40


def test_a_finding_is_reported_once_with_its_input(tmp_path, capsys) -> None:
    findings = fuzz.Findings(tmp_path / "out")
    for data in (b"one", b"two"):
        findings.add("pgn", "ValueError", data)
    assert capsys.readouterr().out.count("ValueError") == 1
    assert (tmp_path / "out" / "pgn-1").read_bytes() == b"one"
    assert findings.kinds == {"ValueError": 2}


def test_random_positions_are_mostly_readable() -> None:
    assert len({fuzz.random_fen(Random(seed)) for seed in range(50)}) > 45
