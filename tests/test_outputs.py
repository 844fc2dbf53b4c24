"""No command writes two of its files under one name, and none overwrites what it reads."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from command_line import run_command

from knightadder.cli import main

_SPSA = ("tune", "spsa", "--iterations", "1")
_MATCH = ("match", "--engine", "name=a", "--engine", "name=b", "--each", "nodes=1", "--games", "2")


@pytest.fixture(autouse=True)
def folder_with_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder with a file of games and a link to it."""
    monkeypatch.chdir(tmp_path)
    Path("games.pgn").write_text("1. e4 *")
    Path("link").symlink_to("games.pgn")


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
def test_a_file_has_one_purpose(words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert capsys.readouterr() == ("", f"knightadder: {message}, so it is not overwritten\n")
    assert sorted(path.name for path in Path().iterdir()) == ["games.pgn", "link"]
    assert Path("games.pgn").read_text() == "1. e4 *"


_LONG = "x" * 300  # a name that every system refuses


@pytest.mark.parametrize(
    "words",
    [
        ("annotate", _LONG),
        ("annotate", "games.pgn", "--out", _LONG),
        ("annotate", "games.pgn", "--summary", f"{_LONG}/a.csv"),
        ("book", "index", _LONG, "--out", "new"),
        ("drills", "list", "--drills-file", _LONG),
        ("datagen", _LONG, "--positions", "1"),
        ("datagen", "new", "--from-pgn", _LONG),
        ("suite", _LONG, "--nodes", "1"),
        ("train", "--state", _LONG),
    ],
    ids=lambda words: " ".join(words)[:20],
)
def test_a_name_that_the_system_refuses_is_a_bad_argument(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = run_command(capsys, *words)
    assert (status, out) == (2, "") and re.search(": cannot use x{300}.*: .+$", err)
    assert sorted(path.name for path in Path().iterdir()) == ["games.pgn", "link"]


@pytest.mark.parametrize(
    "words",
    [
        ("annotate", "games.pgn", "--out", f"{'x' * 246}.pgn"),
        ("annotate", f"{'x' * 242}.pgn"),
        ("report", "games.pgn", "--player", "A", "--out", f"{'x' * 245}.html"),
        ("puzzles", "games.pgn", "--out", f"{'x' * 246}.csv"),
        (*_MATCH, "--pgn", f"{'x' * 246}.pgn"),
        ("book", "make", "games.pgn", "--out", f"{'x' * 251}.bin"),
        ("suite", "wac.epd", "--nodes", "1", "--json", f"{'x' * 250}.json"),
    ],
    ids=lambda words: words[0],
)
def test_a_name_is_short_enough_for_the_names_made_from_it(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("wac.epd").write_text("2rr3k/pp3pp1/1nnqbN1p/3pN3/2pP4/2P3Q1/PPB4P/R4RK1 w - - bm Qg6;")
    Path(f"{'x' * 242}.pgn").write_text("1. e4 *")
    before = sorted(path.name for path in Path().iterdir())
    status, out, err = run_command(capsys, *words)
    assert (status, out) == (2, "") and re.search("cannot (use|write) x{240}.*: .+$", err)
    assert sorted(path.name for path in Path().iterdir()) == before
