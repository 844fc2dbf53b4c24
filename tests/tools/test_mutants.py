"""The tool that breaks the sources, on a small project of which a part is not tested."""

from __future__ import annotations

from pathlib import Path

import mutants
import pytest

SOURCE = '''"""A module."""

LIMIT = 4


def larger(a: int, b: int = 3) -> bool:
    """Compare."""
    return a > b


def never_tested(items):
    items.clear()
    return LIMIT + len(items)
'''
TEST = """
from thing.rule import larger

def test_larger():
    assert [larger(a, 2) for a in (1, 2, 3)] == [False, False, True]
"""


@pytest.fixture(autouse=True)
def project(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    for name, text in (
        ("src/thing/rule.py", SOURCE),
        ("tests/thing/test_rule.py", TEST),
        ("src/thing/__init__.py", ""),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)


def test_each_mutant_is_tried_once_and_the_sources_stay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert mutants.main([str(tmp_path / "src"), "--count", "9", "--", "-p", "no:xdist"]) == 0
    *lines, last = capsys.readouterr().out.splitlines()
    found = dict(zip(lines[::2], lines[1::2], strict=True))
    assert found == {
        "src/thing/rule.py:8 larger: a > b -> a >= b": "    caught (FAILED tests/thing/test_rule.py::test_larger)",
        "src/thing/rule.py:12 never_tested: items.clear() -> pass": "    NOT CAUGHT",
        "src/thing/rule.py:13 never_tested: LIMIT + len(items) -> LIMIT - len(items)": "    NOT CAUGHT",
    }
    assert last == "1 of 3 caught"
    assert (tmp_path / "src" / "thing" / "rule.py").read_text() == SOURCE


def test_a_mutant_in_the_file_of_results_is_not_repeated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = tmp_path / "results.txt"
    known = "src/thing/rule.py:99 larger: a > b -> a >= b\n    NOT CAUGHT\n"  # which the tests would catch
    results.write_text(known)
    for _ in range(2):
        mutants.main([str(tmp_path / "src"), "--count", "2", "--output", str(results), "--", "-p", "no:xdist"])
        assert capsys.readouterr().out.endswith("\n0 of 2 caught\n")
    assert results.read_text().startswith(known)
    assert results.read_text().count("NOT CAUGHT") == 2


def test_other_functions_do_not_change_the_draw(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "src" / "thing" / "rule.py"
    draws = []
    for text in (SOURCE, f"{SOURCE}\n\ndef more(a):\n    return a\n", SOURCE.replace("LIMIT = 4", "LIMIT = 4\n\n")):
        file.write_text(text)
        mutants.main([str(file), "--count", "2", "--seed", "3", "--list"])
        draws.append([line.partition(" ")[2] for line in capsys.readouterr().out.splitlines()[::2]])
    assert draws[0] == draws[1] == draws[2]
    assert len(draws[0]) == 2
