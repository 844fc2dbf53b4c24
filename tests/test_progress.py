"""Progress: a bar on a terminal, on the stream that was asked for, otherwise lines."""

import io
import sys

import pytest

from knightadder.progress import every_seconds, progress, steps


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("stderr", [False, True])
@pytest.mark.parametrize(("unit", "amount"), [("games", "30/40"), ("bytes", "30/40 bytes")])
def test_on_a_terminal_there_is_a_bar(monkeypatch, stderr, unit, amount):
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "xterm")
    streams = {"stdout": io.StringIO(), "stderr": io.StringIO()}
    shown = streams["stderr" if stderr else "stdout"] = Terminal()
    for name, stream in streams.items():
        monkeypatch.setattr(sys, name, stream)
    with progress(40, 7, unit, stderr=stderr) as update:
        update(30.9, "[so far] so good")
    assert amount in shown.getvalue()
    assert "[so far] so good" in shown.getvalue()
    assert [stream.getvalue() for stream in streams.values() if stream is not shown] == [""]


@pytest.mark.parametrize("stderr", [False, True])
def test_off_a_terminal_there_are_lines_when_they_are_due(capsys, stderr):
    with progress(40, 7, "games", stderr=stderr, due=lambda done: done >= 8) as update:
        for done in (7, 8, 9.7):
            update(done, f"[{done}] so far")
        update(40, "")
    expected = "8/40 games  [8] so far\n9/40 games  [9.7] so far\n40/40 games\n"
    assert capsys.readouterr() == (("", expected) if stderr else (expected, ""))


def test_bytes_are_shown_as_such(capsys):
    with progress(2_000_000, unit="bytes", due=lambda done: True) as update:
        update(1500, "KPvK.rtbw")
    assert capsys.readouterr().out == "1.5 kB/2.0 MB  KPvK.rtbw\n"


def test_a_line_is_due_so_long_after_the_last_one():
    now = 100.0
    due = every_seconds(10, lambda: now)
    heard = []
    for now in (100.0, 109.9, 110.0, 110.1, 119.9, 135.0, 144.9, 145.0):  # noqa: B007
        heard.append(due(0))
    assert heard == [False, False, True, False, False, True, False, True]


def test_steps_stand_in_one_line_on_a_terminal(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with steps() as show:
        show("first")
        show("second")
    assert sys.stderr.getvalue() == "\r\x1b[Kfirst\r\x1b[Ksecond\r\x1b[K"


def test_an_error_has_a_line_of_its_own(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with pytest.raises(ZeroDivisionError), steps() as show:
        show("first")
        raise ZeroDivisionError
    assert sys.stderr.getvalue() == "\r\x1b[Kfirst\r\x1b[K"


def test_off_a_terminal_each_step_has_its_line(capsys):
    with steps() as show:
        show("first")
        show("second")
    assert capsys.readouterr() == ("", "first\nsecond\n")
