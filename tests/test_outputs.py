"""No command writes two of its files under one name, and none overwrites what it reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from knightadder.cli import main

_SPSA = ("tune", "spsa", "--iterations", "1")
_MATCH = ("match", "--engine", "name=a", "--engine", "name=b", "--each", "nodes=1", "--games", "2")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((*_SPSA, "--plot", "new.png", "--state", "./new.png"), "--plot new.png: this is also the file of --state"),
        ((*_MATCH, "--state", "new.pgn", "--pgn", "./new.pgn"), "--pgn new.pgn: this is also the file of --state"),
        (
            (*_MATCH, "--pgn", "link", "--openings", "file=games.pgn"),
            "--pgn link: this file contains the openings",
        ),
        (
            (*_MATCH, "--pgn", "./games.pgn", "--engines", "games.pgn"),
            "--pgn games.pgn: this file contains the engines",
        ),
        ((*_MATCH, "--pgn", "new", "--log-engine", "./new"), "--log-engine new: this is also the file of --pgn"),
        (
            ("report", "games.pgn", "--player", "A", "--out", "new.html", "--drills-file", "./new.html"),
            "--out new.html: this is also the file of --drills-file",
        ),
        (
            ("tune", "texel", "games.pgn", "--state", "run", "--out", "link", "--force"),
            "--out link: this file contains the positions",
        ),
        (
            ("tune", "texel", "games.pgn", "--state", "run", "--out", "./run/state.jsonl"),
            "--out run/state.jsonl: this file contains the state of the run",
        ),
    ],
)
def test_a_file_has_one_purpose(
    words: tuple[str, ...],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("games.pgn").write_text("1. e4 *")
    Path("link").symlink_to("games.pgn")
    assert main(words) == 2
    assert capsys.readouterr() == ("", f"knightadder: {message}, so it is not overwritten\n")
    assert sorted(path.name for path in Path().iterdir()) == ["games.pgn", "link"]
    assert Path("games.pgn").read_text() == "1. e4 *"


_LONG = "x" * 300  # a name that every system refuses


@pytest.mark.parametrize(
    ("words", "verb"),
    [
        (("annotate", _LONG), "read"),
        (("annotate", "games.pgn", "--out", _LONG), "write"),
        (("annotate", "games.pgn", "--summary", f"{_LONG}.csv"), "write"),
        (("book", "index", _LONG, "--out", "new"), "read"),
        (("book", "index", "games.pgn", "--out", _LONG), "use"),
        (("book", "make", _LONG, "--out", "new"), "read"),
        (("book", "make", "games.pgn", "--out", _LONG), "write"),
        (("drills", "repertoire", _LONG, "--side", "white"), "read"),
        (("puzzles", _LONG, "--out", "new.csv"), "read"),
        (("puzzles", "games.pgn", "--out", f"{_LONG}.csv"), "write"),
        (("report", _LONG, "--player", "A"), "read"),
        (("tune", "wdl", _LONG), "read"),
    ],
    ids=lambda value: " ".join(value)[:20] if isinstance(value, tuple) else value,
)
def test_a_name_that_the_system_refuses_is_a_bad_argument(
    words: tuple[str, ...],
    verb: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("games.pgn").write_text("1. e4 *")
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith(f"knightadder: cannot {verb} xxx") and err.count("\n") == 1
    assert [path.name for path in Path().iterdir()] == ["games.pgn"]
