"""The guide for Python programmers: its examples do what it says."""

from __future__ import annotations

import doctest
import re
import sys
from pathlib import Path

import chess.engine
import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "python.md"
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL


def test_the_examples_of_the_guide(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    popen_uci = chess.engine.SimpleEngine.popen_uci

    def start(command: str) -> chess.engine.SimpleEngine:
        """Start the engine whether it is installed as a command or not."""
        assert command == "knightadder"
        return popen_uci([sys.executable, "-m", "knightadder"], timeout=120)

    monkeypatch.setattr(chess.engine.SimpleEngine, "popen_uci", start)
    text = re.sub(r"^```.*$", "", GUIDE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    examples = doctest.DocTestParser().get_doctest(text, {}, "guide", str(GUIDE), 0)
    assert len(examples.examples) > 50
    said: list[str] = []
    # Unless told, the runner looks for "-v" among the arguments of the process, and then says everything.
    doctest.DocTestRunner(verbose=False, optionflags=OPTIONS).run(examples, out=said.append)
    assert not said, "".join(said)


def test_all_names_of_the_library_are_in_the_guide() -> None:
    import knightadder

    text = GUIDE.read_text(encoding="utf-8")
    inner = {
        "__version__",
        "AnnotatedGame",
        "AnnotatedMove",
        "Bound",
        "Breakdown",
        "Evaluation",
        "Opening",
        "PlayResult",
        "Side",
        "SimpleAnalysisResult",
        "Stream",
    }
    inner |= {"Tapered", "Term"}
    assert [name for name in knightadder.__all__ if name not in inner and not re.search(rf"\b{name}\b", text)] == []
