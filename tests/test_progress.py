"""The bar of progress: on a terminal only, on the stream that was asked for."""

import io
import sys

import pytest

from knightadder.progress import bar


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("stderr", [False, True])
def test_on_a_terminal_there_is_a_bar(monkeypatch, stderr):
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "xterm")
    streams = {"stdout": io.StringIO(), "stderr": io.StringIO()}
    shown = streams["stderr" if stderr else "stdout"] = Terminal()
    for name, stream in streams.items():
        monkeypatch.setattr(sys, name, stream)
    with bar(40, 7, stderr) as update:
        update(30, "[so far] so good")
    assert "30/40" in shown.getvalue()
    assert "[so far] so good" in shown.getvalue()
    assert [stream.getvalue() for stream in streams.values() if stream is not shown] == [""]


def test_off_a_terminal_there_is_none(capsys):
    with bar(40) as update:
        assert update is None
    assert capsys.readouterr() == ("", "")
