"""Text from outside is shown as one line of printable characters."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knightadder.engine.errors import EngineError, OptionError
from knightadder.text import one_line, tell


@given(st.text(st.characters()), st.integers(1, 50))
def test_any_text_is_one_printable_line(text: str, most: int) -> None:
    line = one_line(text, most)
    assert line.isprintable()
    assert len(line) <= most + 3
    for error in (EngineError(text), OptionError(text)):
        assert str(error).isprintable()


@given(st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=100))
def test_printable_text_stays(text: str) -> None:
    assert one_line(f"{text}  {text}") == f"{text}  {text}"
    assert str(EngineError(f"{text}: {text}")) == f"{text}: {text}"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("two\nlines\r\n", "two lines"),
        ("a\tb\u00a0c", "a b c"),
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("\u202egnp.exe", r"\u202egnp.exe"),
        ("caf\udce9.pgn", r"caf\udce9.pgn"),
        ("Zo\u00eb, \u3010\u5f08\u3011", "Zo\u00eb, \u3010\u5f08\u3011"),
        ("x" * 400, "x" * 300 + "..."),
    ],
)
def test_what_is_not_printable_is_escaped(text: str, line: str) -> None:
    assert one_line(text) == line


def test_a_line_is_written_at_once_so_that_no_other_thread_writes_into_it(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []
    monkeypatch.setattr(sys, "stderr", SimpleNamespace(write=written.append))
    tell("two\nlines")
    assert [text for text in written if text] == ["knightadder: two lines\n"]
